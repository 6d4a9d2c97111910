/* binding.h - the handles of estimation. */
#ifndef WHOLEBODY_ESTIMATION_BINDING_H
#define WHOLEBODY_ESTIMATION_BINDING_H

#include "wholebody/binding.h"
#include "wholebody/estimation/estimation.h"

#define ATTITUDE_HANDLE "wholebody.Attitude"
#define SUPPORT_HANDLE "wholebody.SupportFilter"
#define CONTACTS_HANDLE "wholebody.ContactDetector"
#define FROZEN_HANDLE "wholebody.FrozenSensors"
#define BALANCE_HANDLE "wholebody.BalanceEstimator"

typedef struct {
    Borrowed arrays;
    SupportFilter filter;
    double memory[]; /* (KALMAN_ROWS + 3) x size */
} SupportHandle;

typedef struct {
    Borrowed arrays;
    ContactDetector detector;
} ContactsHandle;

typedef struct {
    Borrowed arrays;
    FrozenSensors watch;
} FrozenHandle;

#endif
