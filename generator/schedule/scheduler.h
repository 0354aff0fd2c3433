// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/database_advice.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/schedule_model.h"
#include "generator/schedule/target.h"

namespace esc {

/// Bytes that a packed layer may have though most of it is zeros: an eighth of the dense matrix, 1 MiB, or those of C,
/// beside which they do not count.
double unlimited_bytes(const LayerShape& shape);

/// The schedules that `--schedule auto` may stand for, each once, the best first. What a user's database has of the
/// very layer or of a close class (`close_class`) comes before everything, and what it has far away changes nothing.
/// Then all others by the time that a model expects of them, which is corrected by what was measured of the layer and
/// of those nearby. Those that would fill memory with explicit zeros come last, but what a user has measured of the
/// very layer. All are legal for the columns of the product, and the target can run them; whether one is for the matrix
/// too shows when that is packed.
///
/// What was measured of the very layer or of a close class is a choice's evidence; `settled` says what of it holds.
/// Where a `form` is given, those alone that pack a matrix so (packed_form), of which there may be none.
std::vector<ScheduleChoice> ranked_schedules(const LayerShape& shape,
                                             std::span<const ScheduleDatabase* const> databases,
                                             const KernelTarget& target = {}, const std::string& form = {});

/// The same by a given model, which is not told what was measured of the layer whose pattern is `left_out`.
std::vector<ScheduleChoice> ranked_schedules(const LayerShape& shape,
                                             std::span<const ScheduleDatabase* const> databases,
                                             const KernelTarget& target, const ScheduleModel& model,
                                             std::string_view left_out = {}, const std::string& form = {});

/// The databases that say something of such layers, of each source the nearest one of the layer's element type and
/// layout. Where a source has none, and columns are one after the other, that of layout kn: schedules depend on the
/// rest of the layout less. Where there is none of these either, the same of the next one of types_like. Of a user's
/// sources only what is as like the layer as anything found counts; the program's own is there always.
std::vector<const ScheduleDatabase*> databases_for(const LayerShape& shape, const DeviceKey& device,
                                                   const std::vector<const std::vector<ScheduleDatabase>*>& sources);

/// The first of ranked_schedules by the shipped databases for a device, settled for the device that it was measured on.
ScheduleChoice choose_schedule(const LayerShape& shape, const DeviceKey& device);

/// The first of them by one database.
ScheduleChoice choose_schedule(const LayerShape& shape, const ScheduleDatabase& database = shipped_database());

/// What auto falls back to where the matrix does not allow any schedule of the ranking, because its rows are too
/// uneven: a schedule of family rows that was among the fastest for power laws of row lengths.
ScheduleChoice uneven_rows_schedule(long long bcol);

/// The fallback where one thread must have the whole sum of a row, for any row lengths up to `longest` non-zeros: rows
/// that are one task each or, where they are too long for that, row tiles of one row that many warps share. It is not
/// measured.
ScheduleChoice whole_rows_schedule(long long bcol, std::int64_t longest);

/// The schedule that `--schedule published` stands for: the paper's best single one on an A100 for the nearest
/// published bCol that is not above this one (32, 64, 128; below 32 the one for 32).
ScheduleChoice published_schedule(long long bcol);

}  // namespace esc
