/* wholebody_channel.c - channels for Octave and MATLAB, one MEX function over ring.h; the package +wholebody calls it.
 *
 *   version = wholebody_channel('version')               of the channels that it can open
 *   handle = wholebody_channel('reader', name)
 *   handle = wholebody_channel('writer', name [, like])  made with the layout of channel `like`, if it is not there
 *   [message, is_new] = wholebody_channel('latest' | 'next', handle [, fields])
 *   [message, is_new] = wholebody_channel('wait' | 'wait_next', handle, seconds [, fields])
 *   sequence = wholebody_channel('put', handle, message) a field that the message lacks stays what it was
 *   sequence = wholebody_channel('command', writer, reader, joints, positions | reference)
 *   message = wholebody_channel('message', handle)       that was taken or put last
 *   numbers = wholebody_channel('info', handle)          sequence, age in s, missed, missed in all, process
 *   names = wholebody_channel('labels', handle, kind)
 *   process = wholebody_channel('alive', name)           that writes the channel; 0 if none does
 *   wholebody_channel('close', handle)
 *
 * A message is a struct: numbers are doubles (exact up to 2^53), texts are char, records are structs. Build:
 *
 *   wholebody octave install                             or: mkoctfile --mex wholebody_channel.c ring.c
 *   mex wholebody_channel.c ring.c                       in MATLAB
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mex.h"
#include "ring.h"

#define HANDLES 256
#define FIELD_NAME 64
#define KIND_STRUCT '{'
#define DEEPEST 8

typedef struct field {
    char name[FIELD_NAME];
    char kind;                         /* f, i, u, b, S of numpy, or KIND_STRUCT */
    uint64_t size, count, offset;      /* bytes of an element, elements, where */
    struct field *inner;
    int inner_count;
} field;

typedef struct handle {
    wb_ring *ring;
    wb_reader *reader;
    wb_writer *writer;
    field *fields;
    int count;
    uint64_t size;
    unsigned char *buffer;             /* the message that was taken or put last */
    char *labels;                      /* text of the layout from its labels on; "" if it has none */
    char name[WB_NAME_MAX + 1];
} handle;

static handle handles[HANDLES];

/* --- errors --------------------------------------------------------------------------------------- */

static const char *remedy(int64_t status)
{
    switch (status) {
    case -ENOENT: return "nobody has made it: does the robot run? See: wholebody status, wholebody channels list";
    case WB_OLD: return "build this MEX function again (wholebody octave install), and start the robot again";
    case WB_LAYOUT: return "it belongs to another robot, or another version: wholebody channels rm, then connect again";
    case WB_GONE: return "the robot was stopped: connect again when it runs";
    case WB_WRITERS: return "see who writes: wholebody channels show";
    case -EACCES: return "it belongs to somebody else: see who may write in docs/channels.md";
    default: return "see: wholebody channels list";
    }
}

static void fail(const char *name, int64_t status)
{
    const char *what = status == -ENOENT ? "there is none" : wb_explain(status);
    mexErrMsgIdAndTxt("wholebody:channel", "channel '%s': %s; %s", name, what, remedy(status));
}

static void refuse(const char *what) { mexErrMsgIdAndTxt("wholebody:argument", "%s", what); }

/* --- the layout: JSON as wholebody writes it ------------------------------------------------------- */

typedef struct text {
    const char *at;
    const char *name;                  /* of the channel, for errors */
} text;

static void damaged(const char *name)
{
    mexErrMsgIdAndTxt("wholebody:channel", "channel '%s': its layout is damaged; wholebody channels rm %s", name, name);
}

static void eat(text *t, char wanted)
{
    if (*t->at != wanted)
        damaged(t->name);
    t->at++;
}

static void read_word(text *t, char *word, int room)
{
    int length = 0;
    eat(t, '"');
    for (; *t->at && *t->at != '"'; t->at++)
        if (length < room - 1 && *t->at != '\\')
            word[length++] = *t->at;
    word[length] = 0;
    eat(t, '"');
}

static uint64_t read_number(text *t)
{
    char *end;
    uint64_t number = strtoull(t->at, &end, 10);
    t->at = end;
    return number;
}

/* `"word":` */
static void expect(text *t, const char *wanted)
{
    char word[FIELD_NAME];
    read_word(t, word, sizeof word);
    if (strcmp(word, wanted) != 0)
        damaged(t->name);
    eat(t, ':');
}

static int read_fields(text *t, field **found, int depth);

/* ["position","<f8",[38],24], or a record in the place of the format */
static void read_field(text *t, field *f, int depth)
{
    char format[FIELD_NAME];
    eat(t, '[');
    read_word(t, f->name, sizeof f->name);
    if (!f->name[0])
        strcpy(f->name, "value");
    eat(t, ',');
    if (*t->at == '"') {
        read_word(t, format, sizeof format);
        f->kind = format[0] ? format[1] : 0;
        f->size = format[0] ? strtoull(format + 2, NULL, 10) : 0;
    } else {
        f->kind = KIND_STRUCT;
        eat(t, '{');
        expect(t, "size");
        f->size = read_number(t);
        eat(t, ',');
        expect(t, "fields");
        f->inner_count = read_fields(t, &f->inner, depth + 1);
        eat(t, '}');
    }
    eat(t, ',');
    eat(t, '[');
    for (f->count = 1; *t->at && *t->at != ']'; t->at += *t->at == ',')
        f->count *= read_number(t);
    eat(t, ']');
    eat(t, ',');
    f->offset = read_number(t);
    eat(t, ']');
}

static int read_fields(text *t, field **found, int depth)
{
    int count = 0, room = 0;
    *found = NULL;
    if (depth > DEEPEST)
        damaged(t->name);
    eat(t, '[');
    while (*t->at == '[') {
        if (count == room) {
            room = room ? 2 * room : 16;
            *found = realloc(*found, (size_t)room * sizeof **found);
        }
        memset(&(*found)[count], 0, sizeof **found);
        read_field(t, &(*found)[count++], depth);
        if (*t->at == ',')
            t->at++;
    }
    eat(t, ']');
    return count;
}

static void free_fields(field *fields, int count)
{
    for (int i = 0; i < count; i++)
        free_fields(fields[i].inner, fields[i].inner_count);
    free(fields);
}

/* Whether all fields lie within their record: the text may say anything. */
static bool fit(const field *fields, int count, uint64_t size)
{
    for (int i = 0; i < count; i++) {
        const field *f = &fields[i];
        if (f->size == 0 || f->size > size || f->count > size || f->offset > size || f->count * f->size > size - f->offset)
            return false;
        if (f->kind != 'S' && f->kind != KIND_STRUCT && f->size > 8)
            return false;
        if (f->kind == KIND_STRUCT && !fit(f->inner, f->inner_count, f->size))
            return false;
    }
    return true;
}

static void read_layout(handle *h)
{
    wb_info info;
    wb_describe(h->ring, &info);
    char *copy = malloc((size_t)info.layout.text_size + 1);
    memcpy(copy, info.layout.text, info.layout.text_size);
    copy[info.layout.text_size] = 0;
    text t = {copy, h->name};
    eat(&t, '{');
    expect(&t, "size");
    h->size = read_number(&t);
    eat(&t, ',');
    expect(&t, "fields");
    h->count = read_fields(&t, &h->fields, 0);
    h->labels = strdup(t.at);
    free(copy);
    if (h->size != info.layout.payload_size || !fit(h->fields, h->count, h->size))
        damaged(h->name);
    h->buffer = calloc(1, h->size);
}

/* --- messages and structs -------------------------------------------------------------------------- */

static double read_element(const field *f, const unsigned char *at)
{
    union { double d; float f; uint64_t u; int64_t i; } value = {.u = 0};
    memcpy(&value, at, f->size);
    if (f->kind == 'f')
        return f->size == 8 ? value.d : (double)value.f;
    if (f->kind != 'i')
        return (double)value.u;
    int unused = 64 - 8 * (int)f->size;
    return (double)((int64_t)(value.u << unused) >> unused);
}

static void write_element(const field *f, unsigned char *at, double x)
{
    union { double d; float f; uint64_t u; int64_t i; } value = {.u = 0};
    if (f->kind == 'f' && f->size == 8)
        value.d = x;
    else if (f->kind == 'f')
        value.f = (float)x;
    else if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0))
        mexErrMsgIdAndTxt("wholebody:field", "field '%s' holds whole numbers; %g is none", f->name, x);
    else
        value.i = (int64_t)x;
    memcpy(at, &value, f->size);
}

static mxArray *to_struct(const field *fields, int count, uint64_t elements, uint64_t size, const unsigned char *bytes);

static mxArray *to_text(const unsigned char *at, uint64_t size)
{
    char *copy = calloc(1, size + 1);
    memcpy(copy, at, size);
    mxArray *made = mxCreateString(copy);
    free(copy);
    return made;
}

static mxArray *to_array(const field *f, const unsigned char *at)
{
    if (f->kind == KIND_STRUCT)
        return to_struct(f->inner, f->inner_count, f->count, f->size, at);
    if (f->kind == 'S' && f->count == 1)
        return to_text(at, f->size);
    if (f->kind == 'S') {
        mxArray *texts = mxCreateCellMatrix(1, f->count);
        for (uint64_t i = 0; i < f->count; i++)
            mxSetCell(texts, i, to_text(at + i * f->size, f->size));
        return texts;
    }
    mxArray *numbers = mxCreateDoubleMatrix(1, f->count, mxREAL);
    double *out = mxGetPr(numbers);
    if (f->kind == 'f' && f->size == 8)
        memcpy(out, at, 8 * f->count);
    else
        for (uint64_t i = 0; i < f->count; i++)
            out[i] = read_element(f, at + i * f->size);
    return numbers;
}

static mxArray *to_struct(const field *fields, int count, uint64_t elements, uint64_t size, const unsigned char *bytes)
{
    const char **names = malloc((size_t)(count + 1) * sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = fields[i].name;
    mxArray *made = mxCreateStructMatrix(1, elements, count, names);
    free(names);
    for (uint64_t element = 0; element < elements; element++)
        for (int i = 0; i < count; i++)
            mxSetFieldByNumber(made, element, i, to_array(&fields[i], bytes + element * size + fields[i].offset));
    return made;
}

static const field *find(const handle *h, const char *name)
{
    for (int i = 0; i < h->count; i++)
        if (strcmp(h->fields[i].name, name) == 0)
            return &h->fields[i];
    mexErrMsgIdAndTxt("wholebody:field", "channel '%s' has no field '%s'; see: wholebody channels show %s", h->name, name,
                      h->name);
    return NULL;
}

/* The message of a handle; only some fields of it, if their names are given. */
static mxArray *message_of(const handle *h, const mxArray *names)
{
    if (!names)
        return to_struct(h->fields, h->count, 1, h->size, h->buffer);
    if (!mxIsCell(names))
        refuse("the fields wanted are a cell array of names, such as {'time', 'position'}");
    mxArray *made = mxCreateStructMatrix(1, 1, 0, NULL);
    for (size_t i = 0; i < mxGetNumberOfElements(names); i++) {
        char name[FIELD_NAME];
        const mxArray *each = mxGetCell(names, i);
        if (!each || mxGetString(each, name, sizeof name))
            refuse("the fields wanted are a cell array of names, such as {'time', 'position'}");
        const field *f = find(h, name);
        mxSetFieldByNumber(made, 0, mxAddField(made, f->name), to_array(f, h->buffer + f->offset));
    }
    return made;
}

static double number_at(const mxArray *numbers, size_t i)
{
    const void *at = mxGetData(numbers);
    switch (mxGetClassID(numbers)) {
    case mxDOUBLE_CLASS: return ((const double *)at)[i];
    case mxSINGLE_CLASS: return (double)((const float *)at)[i];
    case mxLOGICAL_CLASS:
    case mxUINT8_CLASS: return ((const uint8_t *)at)[i];
    case mxINT8_CLASS: return ((const int8_t *)at)[i];
    case mxUINT16_CLASS: return ((const uint16_t *)at)[i];
    case mxINT16_CLASS: return ((const int16_t *)at)[i];
    case mxUINT32_CLASS: return ((const uint32_t *)at)[i];
    case mxINT32_CLASS: return ((const int32_t *)at)[i];
    case mxUINT64_CLASS: return (double)((const uint64_t *)at)[i];
    case mxINT64_CLASS: return (double)((const int64_t *)at)[i];
    default: refuse("numbers are wanted"); return 0.0;
    }
}

static void from_struct(const field *fields, int count, unsigned char *bytes, const mxArray *s, size_t element);

static void from_array(const field *f, unsigned char *at, const mxArray *value)
{
    size_t given = mxGetNumberOfElements(value);
    if (f->kind == 'S') {
        char *copy = calloc(1, f->size + 1);
        if (!mxIsChar(value) || f->count != 1)
            mexErrMsgIdAndTxt("wholebody:field", "field '%s' holds a text", f->name);
        if (given <= f->size)
            mxGetString(value, copy, f->size + 1);
        memcpy(at, copy, f->size);
        free(copy);
        if (given > f->size)
            mexErrMsgIdAndTxt("wholebody:field", "field '%s' has room for %d characters", f->name, (int)f->size);
        return;
    }
    if (f->kind == KIND_STRUCT) {
        if (!mxIsStruct(value) || given > f->count)
            mexErrMsgIdAndTxt("wholebody:field", "field '%s' holds %d structs", f->name, (int)f->count);
        for (size_t i = 0; i < given; i++)
            from_struct(f->inner, f->inner_count, at + i * f->size, value, i);
        return;
    }
    if (given != f->count)
        mexErrMsgIdAndTxt("wholebody:field", "field '%s' holds %d numbers, not %d", f->name, (int)f->count, (int)given);
    for (size_t i = 0; i < given; i++)
        write_element(f, at + i * f->size, number_at(value, i));
}

static void from_struct(const field *fields, int count, unsigned char *bytes, const mxArray *s, size_t element)
{
    for (int i = 0; i < count; i++) {
        const mxArray *value = mxGetField(s, element, fields[i].name);
        if (value)
            from_array(&fields[i], bytes + fields[i].offset, value);
    }
}

/* A field that the channel does not have is a mistake that must not pass in silence. */
static void check_names(const handle *h, const mxArray *s)
{
    for (int i = 0; i < mxGetNumberOfFields(s); i++)
        find(h, mxGetFieldNameByNumber(s, i));
}

/* --- handles --------------------------------------------------------------------------------------- */

static void close_handle(handle *h)
{
    wb_writer_close(h->writer);
    wb_reader_close(h->reader);
    wb_close(h->ring);
    free_fields(h->fields, h->count);
    free(h->buffer);
    free(h->labels);
    memset(h, 0, sizeof *h);
}

static void close_all(void)
{
    for (int i = 0; i < HANDLES; i++)
        if (handles[i].ring)
            close_handle(&handles[i]);
}

static void name_from(const mxArray *given, char name[WB_NAME_MAX + 1])
{
    if (!mxIsChar(given) || mxGetString(given, name, WB_NAME_MAX + 1))
        refuse("the name of a channel is a text, such as 'robot.state'");
}

static int open_path(wb_ring **ring, const char *name, const wb_layout *layout)
{
    char path[WB_PATH_MAX];
    int status = wb_path(name, path);
    return status < 0 ? status : wb_open(ring, path, layout, 64, 16);
}

/* Open a channel; one that is not there is made with the layout of another. */
static mxArray *open_handle(bool writes, const mxArray *name, const mxArray *like)
{
    int i = 0;
    while (i < HANDLES && handles[i].ring)
        i++;
    if (i == HANDLES)
        refuse("256 channels are open; close some, or: clear wholebody_channel");
    handle *h = &handles[i];
    wb_ring *model = NULL;
    wb_info info = {0};
    char other[WB_NAME_MAX + 1];
    int status = 0;
    name_from(name, h->name);
    if (like) {
        name_from(like, other);
        if ((status = open_path(&model, other, NULL)) < 0)
            fail(other, status);
        wb_describe(model, &info);
    }
    status = open_path(&h->ring, h->name, model ? &info.layout : NULL);
    wb_close(model);
    if (status == 0)
        status = writes ? wb_writer_open(&h->writer, h->ring) : wb_reader_open(&h->reader, h->ring);
    if (status < 0) {
        strcpy(other, h->name);
        close_handle(h);
        fail(other, status);
    }
    read_layout(h);
    return mxCreateDoubleScalar(i + 1);
}

static handle *handle_of(const mxArray *number)
{
    double i = mxIsDouble(number) && mxGetNumberOfElements(number) == 1 ? mxGetScalar(number) : 0.0;
    if (!(i >= 1 && i <= HANDLES) || !handles[(int)i - 1].ring)
        refuse("this channel is closed; connect again");
    return &handles[(int)i - 1];
}

static double alive(const char *name)
{
    wb_ring *ring = NULL;
    wb_info info;
    int64_t process = 0;
    if (open_path(&ring, name, NULL) < 0)
        return 0.0;
    wb_describe(ring, &info);
    for (uint32_t lease = 0; lease < info.writers && process <= 0; lease++)
        process = wb_writer_process(ring, lease);
    wb_close(ring);
    return process > 0 ? (double)process : 0.0;
}

/* `"joints":["RHY","RHR"]` among the labels */
static mxArray *labels_of(const handle *h, const char *kind)
{
    char wanted[FIELD_NAME + WB_NAME_MAX], name[FIELD_NAME * 4];
    snprintf(wanted, sizeof wanted, "\"%s\":[", kind);
    const char *found = strstr(h->labels, wanted);
    mxArray *made = mxCreateCellMatrix(1, 0);
    if (!found)
        return made;
    for (int pass = 0; pass < 2; pass++) {
        text t = {found + strlen(wanted), h->name};
        size_t count = 0;
        for (; *t.at == '"'; t.at += *t.at == ',', count++) {
            read_word(&t, name, sizeof name);
            if (pass)
                mxSetCell(made, count, mxCreateString(name));
        }
        if (!pass) {
            mxDestroyArray(made);
            made = mxCreateCellMatrix(1, count);
        }
    }
    return made;
}

/* --- what is done ---------------------------------------------------------------------------------- */

static bool took(const handle *h, int status)
{
    if (status < 0 && status != -EINTR)
        fail(h->name, status);
    return status == 1;
}

static void take(int outputs, mxArray *out[], int inputs, const mxArray *in[], const char *verb)
{
    handle *h = handle_of(in[1]);
    bool waits = strncmp(verb, "wait", 4) == 0, next = strstr(verb, "next") != NULL, is_new = true;
    int first = waits ? 3 : 2;
    if (!h->reader || inputs < first)
        refuse(waits ? "a reader, and how long to wait (s), are wanted" : "a reader is wanted");
    if (waits) {
        double seconds = mxGetScalar(in[2]);
        if (!(seconds >= 0.0 && seconds < 1e9))
            refuse("how long to wait is at least 0 s");
        is_new = took(h, wb_wait(&h->reader, 1, wb_now() + (int64_t)(seconds * 1e9), 0));
    }
    is_new = is_new && took(h, next ? wb_next(h->reader, h->buffer) : wb_latest(h->reader, h->buffer));
    out[0] = message_of(h, inputs > first ? in[first] : NULL);
    if (outputs > 1)
        out[1] = mxCreateLogicalScalar(is_new);
}

static mxArray *put(handle *h)
{
    int64_t sequence = h->writer ? wb_put(h->writer, h->buffer) : (refuse("a writer is wanted"), 0);
    if (sequence < 0)
        fail(h->name, sequence);
    return mxCreateDoubleScalar((double)sequence);
}

/* Take the fields of a struct into the message. */
static void fill(handle *h, const mxArray *message)
{
    if (!mxIsStruct(message))
        refuse("a message is a struct; of positions, numbers of joints come first");
    check_names(h, message);
    from_struct(h->fields, h->count, h->buffer, message, 0);
}

/* Command the positions of some joints, and of no others, at the time of the newest state. */
static mxArray *command(const mxArray *in[])
{
    handle *h = handle_of(in[1]), *states = handle_of(in[2]);
    const field *mask = find(h, "mask"), *position = find(h, "position"), *modes = find(h, "mode");
    size_t count = mxGetNumberOfElements(in[3]);
    if (mxGetNumberOfElements(in[4]) != count)
        refuse("as many positions as joints are wanted");
    memset(h->buffer + mask->offset, 0, mask->count);
    for (size_t i = 0; i < count; i++) {
        double joint = number_at(in[3], i), value = number_at(in[4], i);
        if (!(joint >= 1 && joint <= (double)mask->count))
            mexErrMsgIdAndTxt("wholebody:joint", "%g is no number of a joint; there are %d", joint, (int)mask->count);
        if (!(value - value == 0.0))
            mexErrMsgIdAndTxt("wholebody:joint", "the position of joint %d is %g; give a number", (int)joint, value);
        h->buffer[mask->offset + (size_t)joint - 1] = 1;
        h->buffer[modes->offset + (size_t)joint - 1] = 0; /* Mode.POSITION */
        memcpy(h->buffer + position->offset + 8 * ((size_t)joint - 1), &value, 8);
    }
    const field *time = find(states, "time"), *of = find(h, "time");
    write_element(of, h->buffer + of->offset, read_element(time, states->buffer + time->offset));
    return put(h);
}

static mxArray *info_of(const handle *h)
{
    wb_message message = {0};
    if (!h->reader)
        refuse("a reader is wanted");
    wb_message_of(h->reader, &message);
    mxArray *numbers = mxCreateDoubleMatrix(1, 5, mxREAL);
    double *out = mxGetPr(numbers);
    out[0] = (double)message.sequence;
    out[1] = (double)(wb_now() - message.stamp) * 1e-9;
    out[2] = (double)message.missed;
    out[3] = (double)message.missed_total;
    out[4] = message.process;
    return numbers;
}

static mxArray *ask(const char *verb, int inputs, const mxArray *in[])
{
    char name[WB_NAME_MAX + 1];
    if (strcmp(verb, "version") == 0)
        return mxCreateDoubleScalar(WB_VERSION);
    if (inputs < 2)
        refuse("a name or a handle is wanted; see: help wholebody.connect");
    if (strcmp(verb, "reader") == 0 || strcmp(verb, "writer") == 0)
        return open_handle(*verb == 'w', in[1], inputs > 2 ? in[2] : NULL);
    if (strcmp(verb, "alive") == 0)
        return name_from(in[1], name), mxCreateDoubleScalar(alive(name));
    handle *h = handle_of(in[1]);
    if (strcmp(verb, "message") == 0)
        return message_of(h, NULL);
    if (strcmp(verb, "info") == 0)
        return info_of(h);
    if (strcmp(verb, "close") == 0)
        return close_handle(h), mxCreateDoubleScalar(0);
    if (strcmp(verb, "labels") == 0 && inputs > 2 && !mxGetString(in[2], name, FIELD_NAME))
        return labels_of(h, name);
    if (strcmp(verb, "command") == 0 && inputs == 5)
        return command(in);
    int message = *verb == 'c' ? 3 : 2;
    if ((strcmp(verb, "put") != 0 && strcmp(verb, "command") != 0) || inputs > message + 1)
        mexErrMsgIdAndTxt("wholebody:argument", "'%s' is no verb, or has other arguments; see: help wholebody.connect", verb);
    if (inputs > message)
        fill(h, in[message]);
    return put(h);
}

void mexFunction(int outputs, mxArray *out[], int inputs, const mxArray *in[])
{
    char verb[16];
    mexAtExit(close_all);
    if (inputs < 1 || !mxIsChar(in[0]) || mxGetString(in[0], verb, sizeof verb))
        refuse("the first argument is a verb; see: help wholebody.connect");
    if (inputs > 1 && (strcmp(verb, "latest") == 0 || strcmp(verb, "next") == 0 || strncmp(verb, "wait", 4) == 0))
        take(outputs, out, inputs, in, verb);
    else
        out[0] = ask(verb, inputs, in);
}
