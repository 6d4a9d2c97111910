// service.hpp - asking another process from C++17: requests that are done once, and goals that take time.
//
//   wholebody channels header robot.walking.requests --as walking_requests -o walking_requests.h
//   wholebody channels header robot.walking.replies --as walking_replies -o walking_replies.h
//
//   wholebody::Client<walking_requests, walking_replies> walking("robot.walking");
//   walking.request.walk.forward = 0.5;
//   auto goal = walking.send(walking_requests_kinds_walk);
//   walking.wait(goal, std::chrono::seconds(30));        // throws GoalNotDone if it comes to another end
//   walking.cancel(goal);
//
// Requests are done in the order in which they are sent, and once: one that nobody acknowledged is sent again, by every
// call that looks at replies, until it is too old. wholebody/services/server.py is the other side.
#ifndef WHOLEBODY_SERVICE_HPP
#define WHOLEBODY_SERVICE_HPP

#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "wholebody/channel.hpp"

namespace wholebody {

enum class Stage : std::uint8_t { rejected, accepted, running, succeeded, failed, cancelled, preempted };

inline const char *name_of(Stage stage)
{
    static const char *const names[] = {"rejected", "accepted", "running", "succeeded", "failed", "cancelled", "preempted"};
    const auto index = static_cast<std::size_t>(stage);
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

inline bool is_final(Stage stage) { return stage != Stage::accepted && stage != Stage::running; }

/// What became of a request or of a goal so far, when, and why; progress is the share that is done, NaN if nobody knows.
struct Report {
    std::uint64_t number;
    Stage stage;
    double time, progress;
    std::string text;
};

/// A goal that was rejected, preempted, cancelled, or failed.
class GoalNotDone : public Error {
public:
    explicit GoalNotDone(const Report &told)
        : Error(std::string(name_of(told.stage)) + (told.text.empty() ? "" : ": " + told.text)), report(told)
    {
    }

    const Report report;
};

/// The requests of one process to the server of a name. Fill the fields of one kind in `request`, then send that kind.
template <class Request, class Reply> class Client {
    using Clock = std::chrono::steady_clock;

public:
    /// Find the server; Error if it does not run within `timeout`.
    explicit Client(const std::string &name, std::chrono::milliseconds timeout = std::chrono::seconds(10))
        : name_(name), requests_(name + ".requests", 256, 64), replies_(name + ".replies", 256, 1), writer_(requests_.writer()),
          reader_(replies_.reader())
    {
        const auto until = Clock::now() + timeout;
        while (!replies_.has_writers()) {
            if (Clock::now() > until)
                throw Error("'" + name + "' does not run; see: wholebody status");
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        reader_.latest();  // what was told before is for others
        std::random_device random;
        const std::uint64_t identity = ((std::uint64_t{random()} << 32 | random()) & ((std::uint64_t{1} << 39) - 1)) | 1;
        number_ = identity << 24;
    }

    Request request{};

    /// Send the request, of a kind such as walking_requests_kinds_walk; its number. It is sent again for `keep`.
    std::uint64_t send(int kind, std::chrono::milliseconds keep = std::chrono::seconds(2))
    {
        hear();
        request.kind = static_cast<decltype(request.kind)>(kind);
        request.number = ++number_;
        request.after = waiting_.empty() ? 0 : waiting_.rbegin()->first;
        if (waiting_.empty())
            again_ = Clock::now() + AGAIN;
        waiting_[number_] = {request, Clock::now() + keep};
        writer_.message = request;
        writer_.put();
        return number_;
    }

    /// Ask to give up a goal; the number of that request.
    std::uint64_t cancel(std::uint64_t goal)
    {
        const auto kind = index_of(wb_kinds_of(static_cast<const Request *>(nullptr)), "cancel");
        if constexpr (has_cancel<Request>::value)
            if (kind) {
                request.cancel.number = static_cast<decltype(request.cancel.number)>(goal);
                return send(static_cast<int>(*kind));
            }
        throw Error("'" + name_ + "' has no goals that could be cancelled");
    }

    /// The newest report of a request; nothing while nobody acknowledged it. Does not wait.
    std::optional<Report> report(std::uint64_t number)
    {
        hear();
        const auto found = told_.find(number);
        return found == told_.end() ? std::nullopt : std::optional<Report>(found->second);
    }

    /// Wait for a stage of a request; GoalNotDone if it comes to another end, Error if nobody answers in time.
    Report wait(std::uint64_t number, std::chrono::milliseconds timeout, Stage stage = Stage::succeeded)
    {
        const auto until = Clock::now() + timeout;
        for (;;) {
            if (const auto told = report(number)) {
                if (told->stage == stage || (stage == Stage::accepted && told->stage == Stage::running))
                    return *told;
                if (is_final(told->stage))
                    throw GoalNotDone(*told);
            }
            if (Clock::now() > until)
                throw Error("'" + name_ + "' did not come to '" + name_of(stage) + "' in time");
            if (reader_.wait_next(std::chrono::milliseconds(50)))
                keep();
            else if (!replies_.has_writers())
                throw Error("'" + name_ + "' has ended; see: wholebody status");
        }
    }

    /// The newest reply as it stands in the channel, for servers that answer with numbers.
    const Reply &reply() const { return reader_.message; }

private:
    static constexpr std::chrono::milliseconds AGAIN{250};
    static constexpr std::size_t REMEMBERED = 256;

    template <class T, class = void> struct has_cancel : std::false_type {};
    template <class T> struct has_cancel<T, std::void_t<decltype(T::cancel)>> : std::true_type {};

    struct Waiting {
        Request request;
        Clock::time_point until;
    };

    void hear()
    {
        while (reader_.next())
            keep();
        if (!waiting_.empty() && Clock::now() >= again_)
            send_again(false);
    }

    /// Take in a reply: what is acknowledged is not sent again; a server that was started anew is told all once more.
    void keep()
    {
        const Reply &message = reader_.message;
        if (message.number >> 24 == number_ >> 24) {
            waiting_.erase(message.number);
            const std::size_t length = strnlen(message.text, sizeof message.text);
            const Report told{message.number, static_cast<Stage>(message.stage), message.time, message.progress,
                              std::string(message.text, length)};
            const auto before = told_.find(message.number);
            if (before == told_.end() || !is_final(before->second.stage))
                told_.insert_or_assign(message.number, told);
            if (told_.size() > REMEMBERED)
                told_.erase(told_.begin());
        }
        const std::uint32_t process = reader_.info().process;
        if (server_ && server_ != process)
            send_again(true);
        server_ = process;
    }

    /// Send what nobody acknowledged: the oldest of it, which shows whether it was lost; or all.
    void send_again(bool all)
    {
        const auto now = Clock::now();
        again_ = now + AGAIN;
        std::uint64_t before = 0;
        for (auto each = waiting_.begin(); each != waiting_.end();) {
            if (now >= each->second.until) {
                each = waiting_.erase(each);
                continue;
            }
            if (all || before == 0) {
                writer_.message = each->second.request;
                writer_.message.after = before;
                writer_.put();
            }
            before = each->first;
            ++each;
        }
    }

    std::string name_;
    Channel<Request> requests_;
    Channel<Reply> replies_;
    Writer<Request> writer_;
    Reader<Reply> reader_;
    std::map<std::uint64_t, Waiting> waiting_;
    std::map<std::uint64_t, Report> told_;
    Clock::time_point again_{};
    std::uint64_t number_ = 0;
    std::uint32_t server_ = 0;
};

}  // namespace wholebody
#endif
