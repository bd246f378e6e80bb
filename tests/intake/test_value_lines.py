"""Lines that cure a value can be pasted over what the file says, and lose nothing of it."""

import tomllib

from auditbook.intake.used_columns import list_used
from auditbook.intake.value_lines import columns_line, drop_line, groups_line, missing_line, numbers_line
from auditbook.tables import plain_table
from warned_tables import BASIC, TOP, make_table, read_file, warn_once

ORIGIN = BASIC + '[attributes.origin]\ncolumn = "origin"\nmissing = "drop"\n'


def column(folder, table, name, text=BASIC):
    return next(used for used in list_used(read_file(folder, text), plain_table(table)) if used.name == name)


def test_words_that_mean_missing_already_stay_so(tmp_path):
    table = make_table(origin=lambda i: "AB"[i % 2], code=lambda i: i % 3, note=lambda i: "xy"[i % 2])
    words = '[missing]\nvalues = ["?", 9]\ncolumns = { other = ["NA"] }\n'
    text = ORIGIN + 'missing_values = ["-"]\n' + words
    assert missing_line(column(tmp_path, table, "origin", text), ["A"]) == 'missing_values = ["-", "A"]'
    line = missing_line(column(tmp_path, table, "code", text), ["2", "0.5"])
    assert tomllib.loads(line.removeprefix("[missing] ")) == {
        "columns": {"other": ["NA"], "code": [9, 2, 0.5]}
    }
    line = missing_line(column(tmp_path, table, "note", text), ['x"'])
    assert line == '[missing] columns = { other = ["NA"], note = ["?", 9, "x\\""] }'


def test_numbers_and_groups_that_are_named_already_stay_so(tmp_path):
    table = make_table(origin=lambda i: "AB"[i % 2], lab=lambda i: f"{i % 9}")
    text = ORIGIN + 'groups = { "A" = "first" }\n[features]\nnumbers.lab = { "<1" = 0.5 }\n'
    used = column(tmp_path, table, "lab", text)
    assert numbers_line(used, {"> 8": 9.0}) == '[features] numbers.lab = { "<1" = 0.5, "> 8" = 9 }'
    item = column(tmp_path, table, "origin", text).attribute
    assert groups_line(item, [("B", "second")]) == 'groups = { "A" = "first", "B" = "second" }'


def test_records_are_left_out_by_one_more_entry(tmp_path):
    entry = '{ column = "a b", values = ["0"], reason = "no number" }'
    file = read_file(tmp_path)
    assert drop_line(file, "a b", ["0"], "no number") == f"[data] drop = [{entry}]"
    file = read_file(tmp_path, BASIC, TOP + 'drop = [{ column = "sex", values = ["X"], reason = "few" }]\n')
    assert drop_line(file, "a b", ["0"], "no number") == f"one more entry of [data] drop: {entry}"


def test_names_and_values_are_quoted_where_they_need_it():
    assert (
        columns_line({"a b": ['"'], "c": [True, 1, 0.25]})
        == 'columns = { "a b" = ["\\""], c = [true, 1, 0.25] }'
    )


def test_a_word_taken_out_of_values_leaves_the_others(tmp_path):
    table = make_table(origin=lambda i: ["DE", "NA", "ZA"][i % 3], lab=lambda i: "NA" if i % 5 else "4")
    told = warn_once(tmp_path, table, ORIGIN + '[missing]\nvalues = ["?", "NA"]\ncolumns = { x = ["-"] }\n')
    assert told.endswith('columns = { x = ["-"], lab = ["?", "NA"] }')
