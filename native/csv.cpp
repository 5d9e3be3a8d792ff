// Comma-separated records, taken apart into a column for each field.
#include <nanobind/stl/vector.h>

#include <deque>
#include <optional>
#include <variant>

#include "data_types.h"
#include "numbers.h"
#include "text.h"

namespace nb = nanobind;

namespace everflow {
namespace {

struct Dialect {
    char delimiter;
    bool quotes;
    // The columns to keep, in rising order; all if there are none.
    std::vector<int64_t> columns;
};

// Takes records apart. Fields are views of the record, or of texts that live as long as the splitter where quotes in them
// had to be undone.
class Splitter {
  public:
    explicit Splitter(const Dialect& dialect) : dialect_(dialect) {}

    // Returns what is wrong with the record, or null.
    const char* split(std::string_view record, Views& fields) {
        fields.clear();
        int64_t column = 0;
        size_t i = 0;
        const auto keep = [&](std::string_view field) {
            if (is_wanted(column++, fields.size())) fields.push_back(field);
        };
        while (i < record.size()) {
            if (is_line_end(record[i])) {
                ++i;
                continue;
            }
            std::string_view field;
            const bool quoted = dialect_.quotes && record[i] == '"';
            if (const char* error = quoted ? take_quoted(record, i, field) : take_plain(record, i, field)) return error;
            keep(field);
            if (!dialect_.columns.empty() && fields.size() == dialect_.columns.size()) return nullptr;
        }
        if (!record.empty() && record.back() == dialect_.delimiter) keep({});
        return nullptr;
    }

  private:
    static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

    bool is_wanted(int64_t column, size_t kept) const {
        const auto& columns = dialect_.columns;
        return columns.empty() || (kept < columns.size() && columns[kept] == column);
    }

    const char* take_plain(std::string_view record, size_t& i, std::string_view& field) {
        const size_t start = i;
        for (; i < record.size() && record[i] != dialect_.delimiter; ++i) {
            if ((dialect_.quotes && record[i] == '"') || is_line_end(record[i])) {
                return "Unquoted fields cannot have quotes/CRLFs inside";
            }
        }
        field = record.substr(start, i++ - start);
        return nullptr;
    }

    const char* take_quoted(std::string_view record, size_t& i, std::string_view& field) {
        const size_t start = ++i, last = record.size() - 1;
        bool escapes = false;
        while (i < last && !(record[i] == '"' && record[i + 1] == dialect_.delimiter)) {
            if (record[i] != '"') {
                ++i;
            } else if (record[i + 1] == '"') {
                escapes = true;
                i += 2;
            } else {
                return "Quote inside a string has to be escaped by another quote";
            }
        }
        if (i > last || record[i] != '"') return "Quoted field has to end with quote followed by delim or end";
        field = record.substr(start, i - start);
        i += 2;
        if (escapes) {
            std::string& text = texts_.emplace_back();
            for (size_t k = 0; k < field.size(); ++k) {
                text += field[k];
                if (field[k] == '"') ++k;
            }
            field = text;
        }
        return nullptr;
    }

    const Dialect& dialect_;
    std::deque<std::string> texts_;
};

template <typename T>
struct Numbers {
    std::unique_ptr<T[]> values;
    std::optional<T> missing;
};

struct Texts {
    Views values;
    std::optional<std::string> missing;
};

using Column = std::variant<Numbers<float>, Numbers<double>, Numbers<int32_t>, Numbers<int64_t>, Texts>;

const char* type_name(const Column& column) {
    static constexpr const char* kNames[] = {"float", "double", "int32", "int64", "string"};
    return kNames[column.index()];
}

template <typename T>
Column numbers(nb::handle missing, size_t count) {
    Numbers<T> column{std::unique_ptr<T[]>(new T[count]), std::nullopt};
    if (!missing.is_none()) column.missing = nb::cast<T>(missing);
    return column;
}

Column make_column(int type, nb::handle missing, size_t count) {
    switch (type) {
        case kFloat: return numbers<float>(missing, count);
        case kDouble: return numbers<double>(missing, count);
        case kInt32: return numbers<int32_t>(missing, count);
        case kInt64: return numbers<int64_t>(missing, count);
        default: break;
    }
    Texts column{Views(count), std::nullopt};
    if (!missing.is_none()) {
        const auto text = nb::cast<nb::bytes>(missing);
        column.missing = std::string(text.c_str(), text.size());
    }
    return column;
}

enum class Outcome { kOk, kMissing, kNotANumber };

template <typename T>
Outcome set(Numbers<T>& column, size_t row, std::string_view field, bool is_missing) {
    if (is_missing) {
        if (!column.missing) return Outcome::kMissing;
        column.values[row] = *column.missing;
        return Outcome::kOk;
    }
    return read_number(field, column.values[row]) ? Outcome::kOk : Outcome::kNotANumber;
}

Outcome set(Texts& column, size_t row, std::string_view field, bool is_missing) {
    if (is_missing && !column.missing) return Outcome::kMissing;
    column.values[row] = is_missing ? std::string_view(*column.missing) : field;
    return Outcome::kOk;
}

// Fills the columns; returns what is wrong, or nothing.
std::string fill(const Views& records, std::vector<Column>& columns, Splitter& splitter, std::string_view na_value) {
    Views fields;
    for (size_t row = 0; row < records.size(); ++row) {
        if (const char* error = splitter.split(records[row], fields)) return error;
        const auto where = [row] { return std::to_string(row); };
        if (fields.size() != columns.size()) {
            return "Expect " + std::to_string(columns.size()) + " fields but have " + std::to_string(fields.size()) + " in record " +
                   where();
        }
        for (size_t i = 0; i < columns.size(); ++i) {
            const std::string_view field = fields[i];
            const bool is_missing = field.empty() || field == na_value;
            const Outcome outcome = std::visit([&](auto& column) { return set(column, row, field, is_missing); }, columns[i]);
            if (outcome == Outcome::kOk) continue;
            const std::string name = "Field " + std::to_string(i);
            if (outcome == Outcome::kMissing) return name + " is required but missing in record " + where() + "!";
            return name + " in record " + where() + " is not a valid " + type_name(columns[i]) + ": " + std::string(field);
        }
    }
    return {};
}

nb::list decode_csv(nb::handle records, const std::vector<int>& types, const nb::list& missing, char delimiter, bool quotes,
                    nb::bytes na_value, const std::vector<int64_t>& selected) {
    const Views views = views_of(records);
    std::vector<Column> columns;
    for (size_t i = 0; i < types.size(); ++i) columns.push_back(make_column(types[i], missing[i], views.size()));
    const Dialect dialect{delimiter, quotes, selected};
    const std::string_view na(na_value.c_str(), na_value.size());
    Splitter splitter(dialect);
    std::string error;
    {
        nb::gil_scoped_release unlocked;
        error = fill(views, columns, splitter, na);
    }
    if (!error.empty()) raise_invalid_argument(error);
    nb::list found;
    for (Column& column : columns) {
        if (auto* texts = std::get_if<Texts>(&column)) {
            found.append(text_array(texts->values.data(), texts->values.size(), {views.size()}));
        } else {
            std::visit(
                [&](auto& numbers) {
                    if constexpr (!std::is_same_v<decltype(numbers), Texts&>) {
                        found.append(number_array(std::move(numbers.values), {views.size()}));
                    }
                },
                column);
        }
    }
    return found;
}

}  // namespace

void add_csv(nb::module_& module) {
    module.def("decode_csv", decode_csv, nb::arg("records"), nb::arg("types"), nb::arg("missing"), nb::arg("delimiter"), nb::arg("quotes"),
               nb::arg("na_value"), nb::arg("selected"));
}

}  // namespace everflow
