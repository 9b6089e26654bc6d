// PyTorch as an engine of `cargo xtask bench`: answers requests for timings on its standard input. The protocol is that of
// benches/src/serve.rs, the operands are those of benches/src/lib.rs. Built by `cargo xtask bench` against an installed
// PyTorch, where there is one; no part of any build of the library.
//
// The one argument is the number of threads. Everything runs in inference mode.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/add_cpu_dispatch.h>
#include <ATen/ops/add_meta_dispatch.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using at::Tensor;

struct Work {
    std::string op, layout, form;
    at::ScalarType dtype;
    std::vector<int64_t> sizes;
};

at::ScalarType dtype_of(const std::string& name) {
    static const std::vector<std::pair<std::string, at::ScalarType>> all = {
        {"bool", at::kBool},       {"uint8", at::kByte},       {"int8", at::kChar},     {"int16", at::kShort},
        {"int32", at::kInt},       {"int64", at::kLong},       {"float16", at::kHalf},  {"bfloat16", at::kBFloat16},
        {"float32", at::kFloat},   {"float64", at::kDouble},   {"complex64", at::kComplexFloat},
        {"complex128", at::kComplexDouble}};
    for (const auto& [known, dtype] : all) {
        if (known == name) return dtype;
    }
    throw std::runtime_error(name + " is no dtype");
}

// The letters of operands in benches/src/named.rs.
enum Domain : char { SIGNED = 't', POSITIVE = 'p', UNIT = 'u', ABOVE_ONE = 'a', WEIGHTS = 'w' };

uint32_t hash_of(uint32_t i, uint32_t seed) {
    uint32_t hash = (i + seed * 0x85EBCA6Bu) * 0x9E3779B1u;
    hash ^= hash >> 15;
    hash *= 0x85EBCA6Bu;
    return hash ^ (hash >> 13);
}

float number(Domain domain, at::ScalarType dtype, uint32_t i, uint32_t seed) {
    const uint32_t hash = hash_of(i, seed) >> 16;
    float value = 0;
    switch (dtype) {
        case at::kBool: return (domain != SIGNED && domain != WEIGHTS) || (hash & 1) ? 1 : 0;
        case at::kByte: value = static_cast<float>(hash % 11); break;
        case at::kChar: case at::kShort: case at::kInt: case at::kLong: value = static_cast<float>(hash % 11) - 5; break;
        case at::kHalf: case at::kBFloat16: value = static_cast<float>(hash >> 8) / 32 - 4; break;
        default: value = static_cast<float>(hash) / 8192 - 4;
    }
    const bool integral = at::isIntegralType(dtype, true);
    const float positive = std::fabs(value) + (integral ? 1 : 1.0f / 32);
    if (domain == SIGNED) return value;
    if (domain == WEIGHTS) return integral ? value : value / 32;
    if (integral || domain == POSITIVE) return positive;
    return domain == UNIT ? positive / 8 : positive + 1;
}

Domain domain_of(const std::string& op) {
    static const std::set<std::string> defined_above_zero = {"log", "log1p", "sqrt", "rsqrt", "pow"};
    return defined_above_zero.count(op) > 0 ? POSITIVE : SIGNED;
}

Tensor dense(Domain domain, at::ScalarType dtype, at::IntArrayRef sizes, uint32_t seed) {
    Tensor floats = at::empty(sizes, at::kFloat);
    float* to = floats.data_ptr<float>();
    for (int64_t i = 0; i < floats.numel(); ++i) to[i] = number(domain, dtype, static_cast<uint32_t>(i), seed);
    return floats.to(dtype);
}

Tensor operand(const Work& work, uint32_t index, uint32_t count, Domain domain) {
    auto make = [&](at::IntArrayRef sizes) { return dense(domain, work.dtype, sizes, index); };
    if (work.layout == "contiguous") return make(work.sizes);
    const int64_t rows = work.sizes.at(0), columns = work.sizes.at(1);
    if (work.layout == "pairwise") {
        const int64_t depth = work.sizes.at(2);
        return index + 1 == count ? make({1, columns, depth}) : make({rows, 1, depth});
    }
    auto broadcast = [&](const Tensor& small) { return count == 1 ? small.expand(work.sizes) : small; };
    if (work.layout == "stepped") return make({rows, 2 * columns}).slice(1, 0, 2 * columns, 2);
    if (index + 1 < count) return make(work.sizes);
    if (work.layout == "row-broadcast") return broadcast(make({columns}));
    if (work.layout == "column-broadcast") return broadcast(make({rows, 1}));
    if (work.layout == "transposed") return make({columns, rows}).t();
    throw std::runtime_error(work.layout + " is no layout");
}

Tensor operand(const Work& work, uint32_t index, uint32_t count) { return operand(work, index, count, domain_of(work.op)); }

Tensor output(const Work& work) {
    static const std::set<std::string> same = {"add", "mul", "where", "fused_relu_mul_add", "relu", "maximum", "minimum", "pow"};
    at::ScalarType dtype = work.dtype;
    if (work.op == "eq") dtype = at::kBool;
    else if (!same.count(work.op) && at::isIntegralType(dtype, true)) dtype = at::kFloat;
    return at::zeros(work.sizes, dtype);
}

// A call with its operands. `run` runs it so many times and keeps the last result.
struct Task {
    virtual ~Task() = default;
    virtual void run(uint64_t n) = 0;
    Tensor result;
};

template <class F> struct Writing final : Task {
    F step;
    explicit Writing(Tensor out, F f) : step(std::move(f)) { result = std::move(out); }
    void run(uint64_t n) override {
        for (uint64_t i = 0; i < n; ++i) step(result);
    }
};

template <class F> struct Returning final : Task {
    F step;
    explicit Returning(F f) : step(std::move(f)) {}
    void run(uint64_t n) override {
        result = Tensor();
        for (uint64_t i = 1; i < n; ++i) Tensor dropped = step();
        result = step();
    }
};

template <class F> std::unique_ptr<Task> writing(Tensor out, F f) {
    return std::make_unique<Writing<F>>(std::move(out), std::move(f));
}
template <class F> std::unique_ptr<Task> returning(F f) { return std::make_unique<Returning<F>>(std::move(f)); }

std::unique_ptr<Task> into(const Work& work) {
    Tensor out = output(work);
    if (work.op == "where") {
        Tensor mask = dense(SIGNED, at::kBool, work.sizes, 2);
        Tensor a = operand(work, 0, 2), b = operand(work, 1, 2);
        return writing(out, [=](Tensor& to) { at::where_out(to, mask, a, b); });
    }
    if (work.op == "fused_relu_mul_add") {
        Tensor a = operand(work, 0, 3), b = operand(work, 1, 3), c = operand(work, 2, 3);
        return writing(out, [=](Tensor& to) {
            at::mul_out(to, a, b);
            at::add_out(to, to, c);
            at::relu_out(to, to);
        });
    }
    static const std::set<std::string> binary = {"add", "mul", "eq", "maximum", "minimum"};
    if (binary.count(work.op)) {
        Tensor a = operand(work, 0, 2), b = operand(work, 1, 2);
        if (work.op == "add") return writing(out, [=](Tensor& to) { at::add_out(to, a, b); });
        if (work.op == "mul") return writing(out, [=](Tensor& to) { at::mul_out(to, a, b); });
        if (work.op == "eq") return writing(out, [=](Tensor& to) { at::eq_out(to, a, b); });
        if (work.op == "maximum") return writing(out, [=](Tensor& to) { at::maximum_out(to, a, b); });
        return writing(out, [=](Tensor& to) { at::minimum_out(to, a, b); });
    }
    Tensor a = operand(work, 0, 1);
    if (work.op == "exp") return writing(out, [=](Tensor& to) { at::exp_out(to, a); });
    if (work.op == "log") return writing(out, [=](Tensor& to) { at::log_out(to, a); });
    if (work.op == "tanh") return writing(out, [=](Tensor& to) { at::tanh_out(to, a); });
    if (work.op == "sin") return writing(out, [=](Tensor& to) { at::sin_out(to, a); });
    if (work.op == "cos") return writing(out, [=](Tensor& to) { at::cos_out(to, a); });
    if (work.op == "expm1") return writing(out, [=](Tensor& to) { at::expm1_out(to, a); });
    if (work.op == "log1p") return writing(out, [=](Tensor& to) { at::log1p_out(to, a); });
    if (work.op == "erf") return writing(out, [=](Tensor& to) { at::erf_out(to, a); });
    if (work.op == "sqrt") return writing(out, [=](Tensor& to) { at::sqrt_out(to, a); });
    if (work.op == "rsqrt") return writing(out, [=](Tensor& to) { at::rsqrt_out(to, a); });
    if (work.op == "sigmoid") return writing(out, [=](Tensor& to) { at::sigmoid_out(to, a); });
    if (work.op == "relu") return writing(out, [=](Tensor& to) { at::relu_out(to, a); });
    if (work.op == "gelu") return writing(out, [=](Tensor& to) { at::gelu_out(to, a); });
    throw std::runtime_error(work.op + " has no form out here");
}

std::unique_ptr<Task> reduction(const Work& work) {
    Tensor a = operand(work, 0, 1);
    if (work.form == "all") {
        if (work.op == "sum") return returning([=] { return at::sum(a); });
        if (work.op == "mean") return returning([=] { return at::mean(a); });
        if (work.op == "amax") return returning([=] { return at::amax(a); });
        if (work.op == "amin") return returning([=] { return at::amin(a); });
    }
    const int64_t dim = work.form == "dim1";
    if (work.op == "sum") return returning([=] { return at::sum(a, dim); });
    if (work.op == "mean") return returning([=] { return at::mean(a, dim); });
    if (work.op == "amax") return returning([=] { return at::amax(a, dim); });
    if (work.op == "amin") return returning([=] { return at::amin(a, dim); });
    throw std::runtime_error(work.op + " has no form " + work.form + " here");
}

std::vector<std::string> split(const std::string& text, char by) {
    std::vector<std::string> parts;
    std::string part;
    for (std::istringstream in(text); std::getline(in, part, by);) parts.push_back(part);
    return parts;
}

std::vector<int64_t> numbers(const std::string& text, char by) {
    std::vector<int64_t> all;
    for (const std::string& part : split(text, by)) all.push_back(std::stoll(part));
    return all;
}

bool is_operand(const std::string& w) { return w == "t" || w == "p" || w == "u" || w == "a" || w == "w"; }

// A tensor that does not lie as the request's layout says; undefined if the word is none.
Tensor dense_word(const Work& work, const std::string& word, uint32_t seed) {
    const size_t at = word.find('@');
    const std::string what = word.substr(0, at);
    const std::vector<int64_t> sizes = at == std::string::npos ? work.sizes : numbers(word.substr(at + 1), 'x');
    if (what == "b") return dense(SIGNED, at::kBool, sizes, seed);
    if (is_operand(what)) return dense(static_cast<Domain>(what[0]), work.dtype, sizes, seed);
    const std::string rest = what.size() > 2 ? what.substr(2) : "";
    if (what.rfind("i=", 0) == 0) {
        const int64_t limit = std::max<int64_t>(std::stoll(rest), 1);
        Tensor indices = at::empty(sizes, at::kLong);
        int64_t* to = indices.data_ptr<int64_t>();
        for (int64_t i = 0; i < indices.numel(); ++i) to[i] = hash_of(static_cast<uint32_t>(i), seed) % limit;
        return indices;
    }
    if (what.rfind("r=", 0) == 0) {
        const int64_t n = std::stoll(rest);
        Tensor ascending = at::empty({n}, at::kFloat);
        float* to = ascending.data_ptr<float>();
        for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(i) * (8.0f / static_cast<float>(n)) - 4.0f;
        return ascending.to(work.dtype);
    }
    if (what.rfind("out=", 0) == 0) return at::zeros(sizes, dtype_of(what.substr(4)));
    return Tensor();
}

// The words of benches/src/named.rs.
std::vector<c10::IValue> arguments(const Work& work, const std::string& text) {
    const std::vector<std::string> words = split(text, ',');
    const auto count = static_cast<uint32_t>(std::count_if(words.begin(), words.end(), is_operand));
    std::vector<c10::IValue> values;
    uint32_t index = 0;
    for (const std::string& w : words) {
        if (is_operand(w)) values.emplace_back(operand(work, index++, count, static_cast<Domain>(w[0])));
        else if (w[0] == '[') {
            c10::List<std::optional<Tensor>> list;
            uint32_t seed = 0;
            for (const std::string& item : split(w.substr(1, w.size() - 2), ';')) {
                list.push_back(dense_word(work, item, seed++));
            }
            values.emplace_back(list);
        }
        else if (Tensor made = dense_word(work, w, 2); made.defined()) values.emplace_back(made);
        else if (w == "d") values.emplace_back(static_cast<int64_t>(work.dtype));
        else if (w == "none") values.emplace_back();
        else if (w == "true" || w == "false") values.emplace_back(w == "true");
        else if (w.rfind("s=", 0) == 0) values.emplace_back(w.substr(2));
        else if (w.rfind("l=true", 0) == 0 || w.rfind("l=false", 0) == 0) {
            c10::List<bool> flags;
            for (const std::string& flag : split(w.substr(2), '+')) flags.push_back(flag == "true");
            values.emplace_back(flags);
        }
        else if (w.rfind("l=", 0) == 0) values.emplace_back(numbers(w.substr(2), '+'));
        else if (w.find_first_of(".e") == std::string::npos) values.emplace_back(static_cast<int64_t>(std::stoll(w)));
        else values.emplace_back(std::stod(w));
    }
    return values;
}

// A boxed call by handle; its arguments are pushed anew for each call. The first result counts.
std::unique_ptr<Task> boxed(const std::string& overload, std::vector<c10::IValue> values) {
    const size_t dot = overload.find('.');
    const std::string name = "aten::" + overload.substr(0, dot);
    const std::string rest = dot == std::string::npos ? "" : overload.substr(dot + 1);
    c10::OperatorHandle handle = c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), rest.c_str());
    // A list of tensors of which none may be absent is of another type.
    const std::vector<c10::Argument>& parameters = handle.schema().arguments();
    for (size_t i = 0; i < values.size() && i < parameters.size(); ++i) {
        if (!values[i].isList() || *parameters[i].type() != *c10::ListType::ofTensors()) continue;
        c10::List<Tensor> list;
        for (const c10::IValue& tensor : values[i].toListRef()) list.push_back(tensor.toTensor());
        values[i] = list;
    }
    auto stack = std::make_shared<torch::jit::Stack>();
    return returning([=] {
        stack->assign(values.begin(), values.end());
        handle.callBoxed(*stack);
        return stack->front().toTensor();
    });
}

std::unique_ptr<Task> prepare(const Work& work) {
    const std::string& form = work.form;
    if (form.rfind("named:", 0) == 0) return boxed(work.op, arguments(work, form.substr(6)));
    if (form == "all" || form == "dim0" || form == "dim1") return reduction(work);
    if (form == "out") return into(work);
    if (work.op != "add") throw std::runtime_error(work.op + " has no form " + form + " here");
    if (form == "scalar") {
        Tensor a = operand(work, 0, 1);
        return returning([=] { return at::add(a, 2.0); });
    }
    Tensor a = operand(work, 0, 2), b = operand(work, 1, 2);
    if (form == "functional") return returning([=] { return at::add(a, b); });
    if (form == "inplace") return writing(a, [=](Tensor& to) { to.add_(b); });
    // The rival of a prepared plan is the cheapest call that there is: checked, without dispatch.
    if (form == "static" || form == "prepared") {
        return writing(output(work), [=](Tensor& to) { at::cpu::add_out(to, a, b); });
    }
    if (form == "meta") {
        Tensor ma = a.to(at::kMeta), mb = b.to(at::kMeta);
        return returning([=] { return at::meta::add(ma, mb); });
    }
    if (form == "boxed") return boxed("add.Tensor", {a, b, static_cast<int64_t>(1)});
    throw std::runtime_error(work.op + " has no form " + form + " here");
}

Work parse(const std::string& words) {
    std::istringstream in(words);
    std::string dtype, sizes;
    Work work;
    if (!(in >> work.op >> dtype >> work.layout >> sizes >> work.form)) {
        throw std::runtime_error("prepare takes OP DTYPE LAYOUT SIZES FORM");
    }
    work.dtype = dtype_of(dtype);
    work.sizes = numbers(sizes, 'x');
    return work;
}

std::string digest(const Tensor& result) {
    std::vector<double> values;
    if (result.is_meta()) {
        for (int64_t n : result.sizes()) values.push_back(static_cast<double>(n));
    } else {
        Tensor doubles = at::real(result.to(result.is_complex() ? at::kComplexDouble : at::kDouble)).contiguous();
        values.assign(doubles.data_ptr<double>(), doubles.data_ptr<double>() + doubles.numel());
    }
    const size_t pieces = 64, piece = std::max<size_t>(1, (values.size() + pieces - 1) / pieces);
    std::string line = std::to_string(values.size());
    for (bool magnitude : {false, true}) {
        for (size_t start = 0; start < values.size(); start += piece) {
            double total = 0;
            for (size_t i = start; i < std::min(start + piece, values.size()); ++i) {
                total += (magnitude ? std::fabs(values[i]) : values[i]) * static_cast<double>((i - start) % 31 + 1);
            }
            char text[40];
            std::snprintf(text, sizeof text, " %.17e", total);
            line += text;
        }
    }
    return line;
}

std::string reply(const std::string& request, std::unique_ptr<Task>& task) {
    const size_t space = request.find(' ');
    const std::string verb = request.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : request.substr(space + 1);
    if (verb == "prepare") {
        task.reset();
        task = prepare(parse(rest));
        return "ok";
    }
    if (!task) throw std::runtime_error("nothing is prepared");
    if (verb == "answer") {
        task->run(1);
        return digest(task->result);
    }
    if (verb == "run") {
        const uint64_t n = std::stoull(rest);
        const auto start = std::chrono::steady_clock::now();
        task->run(n);
        const auto took = std::chrono::steady_clock::now() - start;
        return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    }
    throw std::runtime_error("no request: " + request);
}

}  // namespace

int main(int argc, char** argv) {
    at::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 1);
    c10::InferenceMode guard;
    std::cout << "PyTorch " << TORCH_VERSION_TEXT << ' ' << at::get_cpu_capability() << ' ' << at::get_num_threads()
              << " threads" << std::endl;
    std::unique_ptr<Task> task;
    for (std::string line; std::getline(std::cin, line);) {
        std::string answer;
        try {
            answer = reply(line, task);
        } catch (const std::exception& error) {
            answer = error.what();
            answer = "absent " + answer.substr(0, answer.find('\n'));
        }
        std::cout << answer << std::endl;
    }
}
