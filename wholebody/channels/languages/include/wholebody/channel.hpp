// channel.hpp - channels for C++17: handles that close themselves, messages of the types that generated headers define.
//
//   wholebody channels header robot.state --as robot_state -o robot_state.h
//
//   wholebody::Channel<robot_state> states("robot.state");
//   auto state = states.reader();
//   while (state.wait(std::chrono::seconds(2)))
//       use(state.message.position[robot_state_joints_RSP]);
//
// A reader or writer keeps its channel open for as long as it lives. All errors are wholebody::Error: what is wrong with
// which channel, and what to do. After WB_GONE (the channel was removed or made anew) construct channel and handles again.
// Handles may be used by one thread at a time. Build: g++ -std=c++17 -I. mine.cpp $(wholebody channels cflags) -o mine
#ifndef WHOLEBODY_CHANNEL_HPP
#define WHOLEBODY_CHANNEL_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ring.h"

namespace wholebody {

/// What is wrong with a channel or a service, and what to do; `code` is a wb_status or a negative errno.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string &text, std::int64_t status = 0) : std::runtime_error(text), code(status) {}

    const std::int64_t code;
};

namespace detail {

inline std::string remedy(std::int64_t status, const std::string &name)
{
    switch (status) {
    case WB_LAYOUT:
        return "; write its header again (wholebody channels header " + name + ") and compile again";
    case WB_GONE:
        return "; construct the channel, its readers and writers again";
    case WB_FOREIGN:
    case WB_OLD:
    case WB_TRUNCATED:
    case WB_CORRUPT:
    case WB_STALE:
        return "; remove it: wholebody channels rm " + name;
    case WB_WRITERS:
        return "; see who writes: wholebody channels show " + name;
    default:
        return "; see: wholebody channels list";
    }
}

inline std::int64_t check(std::int64_t status, const std::string &name)
{
    if (status >= 0)
        return status;
    throw Error("channel '" + name + "': " + wb_explain(status) + remedy(status, name), status);
}

struct Close {
    void operator()(wb_ring *ring) const { wb_close(ring); }
    void operator()(wb_writer *writer) const { wb_writer_close(writer); }
    void operator()(wb_reader *reader) const { wb_reader_close(reader); }
};

/// An open ring and its name, shared by the handles on it.
struct Opened {
    std::unique_ptr<wb_ring, Close> ring;
    std::string name;
};

template <class Duration> std::int64_t nanoseconds(Duration duration)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

}  // namespace detail

/// The index of a name among labels, such as that of a joint in robot_state_joints_names; nothing if it is not there.
template <std::size_t count>
std::optional<std::size_t> index_of(const char *const (&names)[count], std::string_view name)
{
    for (std::size_t index = 0; index < count; index++)
        if (names[index] == name)
            return index;
    return std::nullopt;
}

/// Puts messages on a channel: fill `message`, call put(). What is not filled again stays as it was.
template <class Message> class Writer {
public:
    explicit Writer(std::shared_ptr<detail::Opened> opened) : opened_(std::move(opened))
    {
        wb_writer *writer = nullptr;
        detail::check(wb_writer_open(&writer, opened_->ring.get()), opened_->name);
        writer_.reset(writer);
    }

    /// Put the message; its sequence. Never waits.
    std::uint64_t put()
    {
        const std::int64_t sequence = wb_put(writer_.get(), &message);
        return static_cast<std::uint64_t>(sequence < 0 ? detail::check(sequence, opened_->name) : sequence);
    }

    Message message{};

private:
    std::shared_ptr<detail::Opened> opened_;
    std::unique_ptr<wb_writer, detail::Close> writer_;
};

/// Takes messages from a channel into `message`, which stays what it is until the next one is taken.
template <class Message> class Reader {
public:
    explicit Reader(std::shared_ptr<detail::Opened> opened) : opened_(std::move(opened))
    {
        wb_reader *reader = nullptr;
        detail::check(wb_reader_open(&reader, opened_->ring.get()), opened_->name);
        reader_.reset(reader);
    }

    /// Take the newest message; false if there is nothing new.
    bool latest() { return took(wb_latest(reader_.get(), &message)); }

    /// Take the message after the last one that was taken; false if there is none yet. info().missed: how many were lost.
    bool next() { return took(wb_next(reader_.get(), &message)); }

    /// Take a message by its number; false if it is overwritten, or not put yet.
    bool at(std::uint64_t sequence) { return took(wb_at(reader_.get(), sequence, &message)); }

    /// Wait for a message and take the newest; false if none came in time, or a signal did. Looks for one for `spin` before
    /// it sleeps.
    template <class Duration> bool wait(Duration timeout, std::chrono::nanoseconds spin = {})
    {
        return comes(wb_now() + detail::nanoseconds(timeout), spin) && latest();
    }

    /// The same, and take the message after the last one that was taken.
    template <class Duration> bool wait_next(Duration timeout, std::chrono::nanoseconds spin = {})
    {
        return comes(wb_now() + detail::nanoseconds(timeout), spin) && next();
    }

    /// Number, time stamp, writer and losses of the message that was taken last.
    wb_message info() const
    {
        wb_message told;
        wb_message_of(reader_.get(), &told);
        return told;
    }

    /// The time since that message was put.
    std::chrono::nanoseconds age() const { return std::chrono::nanoseconds(wb_now() - info().stamp); }

    Message message{};

private:
    bool took(int status) { return (status < 0 ? detail::check(status, opened_->name) : status) == 1; }

    bool comes(std::int64_t until, std::chrono::nanoseconds spin)
    {
        wb_reader *one = reader_.get();
        const int status = wb_wait(&one, 1, until, spin.count());
        return status != -EINTR && took(status);
    }

    std::shared_ptr<detail::Opened> opened_;
    std::unique_ptr<wb_reader, detail::Close> reader_;
};

/// A named place in shared memory where processes leave messages of one type, newest first.
template <class Message> class Channel {
    static_assert(std::is_trivially_copyable_v<Message>, "a message is a struct of a generated header");

public:
    /// Open the channel, or make it, keeping `depth` messages of up to `writers` writers at once.
    explicit Channel(std::string name, std::uint32_t depth = 64, std::uint32_t writers = 16)
        : opened_(std::make_shared<detail::Opened>())
    {
        opened_->name = std::move(name);
        char path[WB_PATH_MAX];
        detail::check(wb_path(opened_->name.c_str(), path), opened_->name);
        const wb_layout &layout = wb_layout_of(static_cast<const Message *>(nullptr));
        wb_ring *ring = nullptr;
        detail::check(wb_open(&ring, path, &layout, depth, writers), opened_->name);
        opened_->ring.reset(ring);
    }

    /// Register as a writer.
    Writer<Message> writer() const { return Writer<Message>(opened_); }

    /// Make a reader; its first next() is the oldest message still there.
    Reader<Message> reader() const { return Reader<Message>(opened_); }

    const std::string &name() const { return opened_->name; }

    /// Whether a process that may write to it lives.
    bool has_writers() const
    {
        wb_info info;
        wb_describe(opened_->ring.get(), &info);
        for (std::uint32_t lease = 0; lease < info.writers; lease++)
            if (wb_writer_process(opened_->ring.get(), lease) > 0)
                return true;
        return false;
    }

private:
    std::shared_ptr<detail::Opened> opened_;
};

}  // namespace wholebody
#endif
