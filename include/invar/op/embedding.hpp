// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Rows of a table, by index.
#ifndef INVAR_OP_EMBEDDING_HPP
#define INVAR_OP_EMBEDDING_HPP

#include <invar/contract/defaults.hpp>
#include <invar/num/types.hpp>
#include <invar/tree/elements.hpp>
#include <invar/tree/launch_elements.hpp>
#include <invar/tree/outputs.hpp>
#include <invar/view.hpp>

#include <cmath>
#include <type_traits>

namespace invar {
namespace detail {

/// The entries of a table as rows: row r is entry id(r), or NaN where there is none.
template <class Y, class Table, class Ids>
struct Embedding {
  using Entry = tree::Elements<Table>;
  using scalar = typename Entry::value_type;
  static constexpr int element_bytes = tree::narrowest<tree::Output<Y>, Entry>();
  tree::Output<Y> y;
  Entry table;
  Ids ids;

  template <class Line>
  KOKKOS_FUNCTION void operator()(std::int64_t row, const Line& line) const {
    const auto id = static_cast<std::int64_t>(ids(row));
    if (id >= 0 && id < static_cast<std::int64_t>(table.x.extent(0)))
      line.map(
          row, [](auto v) { return v; }, y, tree::FixedRow<Entry>{table, id});
    else
      line.map(
          row, [] { return scalar(NAN); }, y);
  }
};

}  // namespace detail

/// y(i, ·) = table(ids(i), ·), rounded to y's type.
///
/// \tparam Contract  contract::Elementwise<ieee>
/// \param exec   runs asynchronously in this instance
/// \param y      [rows, columns], any supported type. [out]
/// \param table  [entries, columns]; float, double, bfloat16_t or float16_t. [in]
/// \param ids    [rows], integers. An id outside the table gives a row of NaN; nothing outside is read. [in]
/// \param schedule  one of schedule::elementwise_table (an item is a row), or null to let the shape choose
/// \throws invar::error  on wrong extents, or where y overlaps an input
template <class Contract = contract::DefaultElementwise, ExecutionSpace Exec, ViewOfRank<2> Y, ViewOfRank<2> Table,
          ViewOfRank<1> Ids>
void embedding(const Exec& exec, const Y& y, const Table& table, const Ids& ids,
               const schedule::Elementwise* schedule = nullptr) {
  static_assert(contract::is_elementwise_v<Contract>, "Invar: embedding takes a contract::Elementwise");
  static_assert(std::is_integral_v<typename Ids::non_const_value_type>, "Invar: embedding: ids holds integers");
  using namespace detail;
  check_output<Exec>("embedding", "y", y);
  check_input<Exec, Table>();
  check_view<Exec, Ids>();
  require_extent("embedding", "y", y, 0, ids.extent(0));
  require_extent("embedding", "y", y, 1, table.extent(1));
  require_disjoint("embedding", "y", y, "table", table);
  require_disjoint("embedding", "y", y, "ids", ids);
  tree::launch_elements("Invar::embedding", exec, static_cast<std::int64_t>(ids.extent(0)),
                        static_cast<std::int64_t>(table.extent(1)), schedule,
                        Embedding<Y, Table, Ids>{{y}, {table}, ids});
}

}  // namespace invar

#endif
