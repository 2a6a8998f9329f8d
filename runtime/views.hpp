namespace smoothc {

/// What a status says.
inline const char *status_text(smooth_status status) noexcept
{
    switch (status) {
    case SMOOTH_OK: return "no error";
    case SMOOTH_BOUNDS: return "an index is out of bounds";
    case SMOOTH_SHAPE: return "lengths contradict each other";
    case SMOOTH_NEGATIVE: return "a count is negative";
    case SMOOTH_DIV_ZERO: return "an Index is divided by zero";
    case SMOOTH_RANGE: return "a number does not fit an Index";
    case SMOOTH_WORKSPACE: return "the workspace is too small, or a recursion too deep for it";
    }
    return "an unknown status";
}

#ifdef SMOOTHC_EXCEPTIONS
/// An argument of another shape than its entry takes.
class shape_error : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// What an entry answered where that is not SMOOTH_OK.
class status_error : public std::runtime_error {
public:
    status_error(const char *entry, smooth_status status)
        : std::runtime_error(std::string(entry) + ": " + status_text(status)), status_(status) {}

    int status() const noexcept { return static_cast<int>(status_); }

private:
    smooth_status status_;
};
#endif

/// Memory that calls use while they run; one for each thread. It grows to what the largest call needs.
class workspace {
public:
    /// At least as many bytes as are asked for, at `data()`: how many there are, 0 where there is no memory for them. A call uses all of
    /// them, and recursion that has no bound goes the deeper for more.
    std::size_t try_reserve(std::size_t bytes) noexcept
    {
        const std::size_t lines = bytes / sizeof(line) + (bytes % sizeof(line) != 0 ? 1 : 0);
        if (lines > capacity_) {
            if (lines > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(line)) {
                return 0;
            }
            lines_.reset();
            capacity_ = 0;
            lines_.reset(new (std::nothrow) line[lines]);
            if (lines_ == nullptr) {
                return 0;
            }
            capacity_ = lines;
        }
        return capacity_ * sizeof(line);
    }

    /// The bytes, of which nothing is known.
    void *data() noexcept { return lines_.get(); }

#ifdef SMOOTHC_EXCEPTIONS
    /// `try_reserve`, or `std::bad_alloc`.
    std::size_t reserve(std::size_t bytes)
    {
        const std::size_t there = try_reserve(bytes);
        if (there < bytes) {
            throw std::bad_alloc();
        }
        return there;
    }
#endif

private:
    /// A cache line: vectors of lanes then lie in one each, where lengths are multiples of theirs.
    struct alignas(64) line {
        unsigned char bytes[64];
    };

    std::unique_ptr<line[]> lines_;
    std::size_t capacity_ = 0;
};

/// The workspace of calls that name none, one for each thread.
inline workspace &thread_workspace() noexcept
{
    thread_local workspace own;
    return own;
}

namespace detail {
/// How many numbers an array of these lengths has; nothing where a length is negative, or no memory has room for them.
template <std::size_t Rank>
std::optional<std::size_t> count_of(const std::array<std::int64_t, Rank> &lengths) noexcept
{
    std::size_t all = 1;
    for (const std::int64_t length : lengths) {
        if (length < 0) {
            return std::nullopt;
        }
        if (length != 0 && all > std::numeric_limits<std::size_t>::max() / sizeof(double) / static_cast<std::size_t>(length)) {
            return std::nullopt;
        }
        all *= static_cast<std::size_t>(length);
    }
    return all;
}
} // namespace detail

/// How many numbers an array of these lengths has. Where nothing can be thrown, lengths that no array has end the program.
template <std::size_t Rank>
std::size_t count(const std::array<std::int64_t, Rank> &lengths)
{
    const std::optional<std::size_t> all = detail::count_of(lengths);
    if (!all) {
#ifdef SMOOTHC_EXCEPTIONS
        if (std::any_of(lengths.begin(), lengths.end(), [](std::int64_t length) { return length < 0; })) {
            throw shape_error("an array has a negative length");
        }
        throw std::length_error("an array is larger than the memory");
#else
        std::abort();
#endif
    }
    return *all;
}

#ifdef SMOOTHC_EIGEN
namespace detail {
template <class D>
std::true_type is_eigen(const Eigen::DenseBase<D> *);
std::false_type is_eigen(const volatile void *);
} // namespace detail
template <class C>
constexpr bool is_eigen = decltype(detail::is_eigen(static_cast<std::remove_reference_t<C> *>(nullptr)))::value;
#else
template <class C>
constexpr bool is_eigen = false;
#endif

template <class T, std::size_t Rank>
class array;

/// Numbers in row-major order that belong to somebody else, and their lengths in each direction.
template <class T, std::size_t Rank>
class view {
public:
    using lengths_type = std::array<std::int64_t, Rank>;

    /// Nothing: for the data of a case that a value of a sum type is not of.
    view() noexcept : data_(nullptr), lengths_{} {}

    view(T *data, const lengths_type &lengths) : data_(data), lengths_(lengths) {}

    /// What may be written may be read.
    template <class U, std::enable_if_t<std::is_same_v<const U, T> && !std::is_const_v<U>, int> = 0>
    view(const view<U, Rank> &other) : data_(other.data()), lengths_(other.lengths()), is_contiguous_(other.is_contiguous())
    {
    }

    view(array<std::remove_const_t<T>, Rank> &other) : data_(other.data()), lengths_(other.lengths()) {}

    template <class U, std::enable_if_t<std::is_same_v<const U, T>, int> = 0>
    view(const array<U, Rank> &other) : data_(other.data()), lengths_(other.lengths())
    {
    }

    /// What is contiguous and knows its length: std::vector, std::array, an array, std::span.
    template <
        class C, std::size_t R = Rank,
        std::enable_if_t<R == 1 && !is_eigen<C> && std::is_convertible_v<decltype(std::data(std::declval<C &>())), T *>, int> = 0>
    view(C &&other) : data_(std::data(other)), lengths_{static_cast<std::int64_t>(std::size(other))}
    {
    }

    /// Numbers that are written here; they live as long as the call that they are an argument of.
    template <class U = T, std::size_t R = Rank, std::enable_if_t<R == 1 && std::is_const_v<U>, int> = 0>
    view(std::initializer_list<std::remove_const_t<T>> numbers)
        : data_(std::data(numbers)), lengths_{static_cast<std::int64_t>(numbers.size())}
    {
    }

    /// An array of arrays.
    template <
        class U, std::size_t Rows, std::size_t Columns, std::size_t R = Rank,
        std::enable_if_t<R == 2 && std::is_convertible_v<U (*)[], T (*)[]>, int> = 0>
    view(U (&rows)[Rows][Columns])
        : data_(&rows[0][0]), lengths_{static_cast<std::int64_t>(Rows), static_cast<std::int64_t>(Columns)}
    {
    }

#ifdef SMOOTHC_EIGEN
    /// A vector, or a matrix that is kept row by row. Where its numbers are not contiguous, entries refuse the view, which has no data.
    template <class C, std::enable_if_t<is_eigen<C>, int> = 0>
    view(C &&other) : data_(nullptr), lengths_(lengths_of(other))
    {
        // `lengths_of` says why else it does not compile
        if constexpr ((std::decay_t<C>::Flags & Eigen::DirectAccessBit) != 0) {
            is_contiguous_ = has_no_gaps(other);
            if (is_contiguous_) {
                data_ = other.data();
            }
        }
    }
#endif

    T *data() const noexcept { return data_; }
    const lengths_type &lengths() const noexcept { return lengths_; }
    std::int64_t length(std::size_t axis) const { return lengths_[axis]; }
    bool is_contiguous() const noexcept { return is_contiguous_; }
    std::size_t size() const noexcept
    {
        std::size_t all = 1;
        for (const std::int64_t length : lengths_) {
            all *= static_cast<std::size_t>(length);
        }
        return all;
    }
    bool is_empty() const noexcept { return std::find(lengths_.begin(), lengths_.end(), 0) != lengths_.end(); }

    template <class... Indices>
    T &operator()(Indices... indices) const
    {
        static_assert(sizeof...(Indices) == Rank, "as many indices as the array has directions");
        std::int64_t at = 0;
        std::size_t axis = 0;
        ((at = at * lengths_[axis++] + static_cast<std::int64_t>(indices)), ...);
        return data_[at];
    }

private:
#ifdef SMOOTHC_EIGEN
    template <class C>
    static lengths_type lengths_of(const C &other)
    {
        static_assert((C::Flags & Eigen::DirectAccessBit) != 0, "an expression of Eigen has no numbers yet: call eval()");
        static_assert(Rank == 1 || Rank == 2, "Eigen has vectors and matrices");
        if constexpr (Rank == 1) {
            static_assert(C::IsVectorAtCompileTime, "a vector is wanted here");
            return {static_cast<std::int64_t>(other.size())};
        } else {
            static_assert(C::IsRowMajor, "matrices are kept row by row: Eigen::Matrix<double, Rows, Columns, Eigen::RowMajor>");
            return {static_cast<std::int64_t>(other.rows()), static_cast<std::int64_t>(other.cols())};
        }
    }

    template <class C>
    static bool has_no_gaps(const C &other)
    {
        if (other.size() <= 1) {
            return true;
        }
        const bool is_one_row = Rank == 1 || other.rows() < 2;
        return other.innerStride() == 1 && (is_one_row || other.outerStride() == other.cols());
    }
#endif

    T *data_;
    lengths_type lengths_;
    bool is_contiguous_ = true;
};

/// Numbers in row-major order: what an entry gives.
template <class T, std::size_t Rank>
class array {
public:
    using lengths_type = std::array<std::int64_t, Rank>;

    explicit array(const lengths_type &lengths) : lengths_(lengths), size_(count(lengths)), data_(new T[size_]()) {}
    array(const array &other) : array(other.lengths_) { std::copy(other.begin(), other.end(), begin()); }
    /// What is moved from has no numbers; its lengths are 0.
    array(array &&other) noexcept
        : lengths_(std::exchange(other.lengths_, {})), size_(std::exchange(other.size_, 0)), data_(std::move(other.data_))
    {
    }
    array &operator=(array other) noexcept
    {
        std::swap(lengths_, other.lengths_);
        std::swap(size_, other.size_);
        std::swap(data_, other.data_);
        return *this;
    }
    ~array() = default;

    T *data() noexcept { return data_.get(); }
    const T *data() const noexcept { return data_.get(); }
    std::size_t size() const noexcept { return size_; }
    T *begin() noexcept { return data(); }
    T *end() noexcept { return data() + size_; }
    const T *begin() const noexcept { return data(); }
    const T *end() const noexcept { return data() + size_; }
    const lengths_type &lengths() const noexcept { return lengths_; }
    std::int64_t length(std::size_t axis) const { return lengths_[axis]; }

    /// The number at these indices.
    template <class... Indices>
    T &operator()(Indices... indices)
    {
        return view<T, Rank>(*this)(indices...);
    }
    template <class... Indices>
    const T &operator()(Indices... indices) const
    {
        return view<const T, Rank>(*this)(indices...);
    }

    /// The number at this place in row-major order.
    T &operator[](std::size_t at) { return data_[at]; }
    const T &operator[](std::size_t at) const { return data_[at]; }

private:
    lengths_type lengths_;
    std::size_t size_;
    std::unique_ptr<T[]> data_;
};

#ifdef SMOOTHC_EIGEN
namespace detail {
template <class T, int Columns, int Order>
using eigen_matrix = Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Columns, Order>;
template <class T, int Columns, int Order>
using eigen_map =
    Eigen::Map<std::conditional_t<std::is_const_v<T>, const eigen_matrix<T, Columns, Order>, eigen_matrix<T, Columns, Order>>>;
} // namespace detail

/// The same numbers as a vector of Eigen.
template <class T>
detail::eigen_map<T, 1, Eigen::ColMajor> eigen(const view<T, 1> &of)
{
    return {of.data(), static_cast<Eigen::Index>(of.length(0))};
}

/// The same numbers as a matrix of Eigen.
template <class T>
detail::eigen_map<T, Eigen::Dynamic, Eigen::RowMajor> eigen(const view<T, 2> &of)
{
    return {of.data(), static_cast<Eigen::Index>(of.length(0)), static_cast<Eigen::Index>(of.length(1))};
}

template <class T, std::size_t Rank>
auto eigen(array<T, Rank> &of)
{
    return eigen(view<T, Rank>(of));
}
template <class T, std::size_t Rank>
auto eigen(const array<T, Rank> &of)
{
    return eigen(view<const T, Rank>(of));
}
#endif

namespace detail {
/// Index arithmetic, which wraps.
inline std::int64_t add(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t sub(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t mul(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t neg(std::int64_t a) { return sub(0, a); }
inline std::int64_t div(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : b == -1 ? neg(a) : a / b; }
inline std::int64_t rem(std::int64_t a, std::int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
inline std::int64_t least(std::int64_t a, std::int64_t b) { return b < a ? b : a; }
inline std::int64_t largest(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
inline std::int64_t magnitude(std::int64_t a) { return a < 0 ? neg(a) : a; }
/// A fold of so many steps; of less than none it has none.
template <class Step>
std::int64_t repeat(std::int64_t steps, std::int64_t state, Step step)
{
    for (std::int64_t i = 0; i < steps; ++i) {
        state = step(state, i);
    }
    return state;
}
template <std::size_t Count, class Step>
std::array<std::int64_t, Count> repeat(std::int64_t steps, std::array<std::int64_t, Count> states, Step step)
{
    for (std::int64_t i = 0; i < steps; ++i) {
        states = step(states, i);
    }
    return states;
}
/// As `repeat`, of steps that change nothing any more once one has not.
template <class Step>
std::int64_t settle(std::int64_t steps, std::int64_t state, Step step)
{
    for (std::int64_t i = 0; i < steps; ++i) {
        const std::int64_t next = step(state, i);
        if (next == state) {
            break;
        }
        state = next;
    }
    return state;
}
template <std::size_t Count, class Step>
std::array<std::int64_t, Count> settle(std::int64_t steps, std::array<std::int64_t, Count> states, Step step)
{
    for (std::int64_t i = 0; i < steps; ++i) {
        const std::array<std::int64_t, Count> next = step(states, i);
        if (next == states) {
            break;
        }
        states = next;
    }
    return states;
}
inline bool eq(std::int64_t a, std::int64_t b) { return a == b; }
inline bool ne(std::int64_t a, std::int64_t b) { return a != b; }
inline bool lt(std::int64_t a, std::int64_t b) { return a < b; }
inline bool le(std::int64_t a, std::int64_t b) { return a <= b; }
inline bool gt(std::int64_t a, std::int64_t b) { return a > b; }
inline bool ge(std::int64_t a, std::int64_t b) { return a >= b; }
inline bool both(bool a, bool b) { return a && b; }
inline bool either(bool a, bool b) { return a || b; }
inline bool negated(bool a) { return !a; }

/// Whether two arrays share memory.
template <class T, std::size_t Rank, class U, std::size_t Other>
bool share(const view<T, Rank> &a, const view<U, Other> &b) noexcept
{
    const std::less<const void *> before;
    return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

/// Whether a result shares memory with one of these arrays.
template <class T, std::size_t Rank, class... Others>
bool overlaps(const view<T, Rank> &result, const Others &...others) noexcept
{
    return (share(result, others) || ...);
}

/// The length of the data of a case. Where the value is of another case nothing reads them, and an empty view has any length.
template <class T, std::size_t Rank>
std::int64_t length_of_case(const view<T, Rank> &data, std::size_t axis, bool is_read, std::int64_t wanted) noexcept
{
    return !is_read && data.is_empty() ? wanted : data.length(axis);
}

#ifdef SMOOTHC_EXCEPTIONS
/// How messages begin: the entry, and one of its parameters or results.
inline std::string named(const char *entry, const char *parameter) { return std::string(entry) + ": `" + parameter + "`"; }

/// A length must be what the others say.
inline void expect(const char *entry, const char *parameter, std::size_t axis, std::int64_t found, std::int64_t wanted)
{
    if (found != wanted) {
        throw shape_error(named(entry, parameter) + " has length " + std::to_string(found) + " in direction " + std::to_string(axis)
                          + ", expected " + std::to_string(wanted));
    }
}

/// Entries read and write numbers without gaps between them.
inline void expect_contiguous(const char *entry, const char *parameter, bool is_contiguous)
{
    if (!is_contiguous) {
        throw shape_error(named(entry, parameter) + " is not contiguous");
    }
}

/// Entries write results while they read arguments.
template <class T, std::size_t Rank, class... Others>
void expect_apart(const char *entry, const char *name, const view<T, Rank> &result, const Others &...others)
{
    if (overlaps(result, others...)) {
        throw std::invalid_argument(named(entry, name) + " shares memory with another array of the call");
    }
}

/// A result of these lengths.
template <class T, std::size_t Rank>
array<T, Rank> result(const char *entry, const char *name, const std::array<std::int64_t, Rank> &lengths)
{
    for (std::size_t axis = 0; axis < Rank; ++axis) {
        if (lengths[axis] < 0) {
            throw shape_error(named(entry, name) + " would have length " + std::to_string(lengths[axis]) + " in direction "
                              + std::to_string(axis));
        }
    }
    if (!count_of(lengths)) {
        throw std::length_error(named(entry, name) + " would be larger than the memory");
    }
    return array<T, Rank>(lengths);
}

inline void check(const char *entry, smooth_status status)
{
    if (status != SMOOTH_OK) {
        throw status_error(entry, status);
    }
}

/// SIZE_MAX says that no memory is large enough.
inline std::size_t bytes(const char *entry, std::size_t needed)
{
    if (needed == SIZE_MAX) {
        throw std::length_error(std::string(entry) + ": the workspace would be larger than the memory");
    }
    return needed;
}
#endif

/// The status for a length that is not the wanted one, which may be none at all.
inline smooth_status refused(std::int64_t wanted) noexcept { return wanted < 0 ? SMOOTH_NEGATIVE : SMOOTH_SHAPE; }
} // namespace detail

} // namespace smoothc
