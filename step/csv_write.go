package step

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/value"
)

// A csvForm says how to write CSV.
type csvForm struct {
	comma   rune
	header  bool     // the first line has the names of the columns
	columns []string // none means all, in the order of their names
	safe    bool     // a spreadsheet takes no text for a formula
}

// toCSV writes a list of objects or a list of lists.
func toCSV(input any, form csvForm) (any, error) {
	if err := weigh(input); err != nil {
		return nil, err
	}
	rows, ok := input.([]any)
	if !ok {
		return nil, invalid("input", "must be a list of objects or a list of lists, not %s", value.Describe(input))
	}
	records, err := recordsOf(rows, form)
	if err != nil {
		return nil, err
	}
	return writeCSV(records, form.comma)
}

func recordsOf(rows []any, form csvForm) ([][]string, error) {
	columns := form.columns
	if len(rows) > 0 {
		if _, lists := rows[0].([]any); lists && len(columns) > 0 {
			return nil, invalid("columns", "names fields of objects; the input has lists")
		} else if lists {
			return recordsOfLists(rows, form)
		}
	}
	if len(columns) == 0 {
		columns = columnsOf(rows)
	}
	if len(columns)*len(rows) > value.MaxValues {
		return nil, value.TooManyValues()
	}
	var records [][]string
	if form.header && len(columns) > 0 {
		names := make([]string, len(columns))
		for i, column := range columns {
			names[i] = form.text(column)
		}
		records = append(records, names)
	}
	for i, row := range rows {
		object, ok := row.(map[string]any)
		if !ok {
			return nil, rowInvalid(i, "an object", row)
		}
		record := make([]string, len(columns))
		for j, column := range columns {
			cell, err := form.cell(object[column])
			if err != nil {
				return nil, err
			}
			record[j] = cell
		}
		records = append(records, record)
	}
	return records, nil
}

func recordsOfLists(rows []any, form csvForm) ([][]string, error) {
	records := make([][]string, len(rows))
	for i, row := range rows {
		list, ok := row.([]any)
		if !ok {
			return nil, rowInvalid(i, "a list", row)
		}
		records[i] = make([]string, len(list))
		for j, v := range list {
			cell, err := form.cell(v)
			if err != nil {
				return nil, err
			}
			records[i][j] = cell
		}
	}
	return records, nil
}

func rowInvalid(row int, want string, got any) error {
	return invalid("input", "must be a list of objects or a list of lists; its item %d is %s where %s is due", row+1, value.Describe(got), want)
}

// columnsOf returns the names of all fields, sorted.
func columnsOf(rows []any) []string {
	names := map[string]bool{}
	for _, row := range rows {
		object, _ := row.(map[string]any)
		for name := range object {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// cell returns a value as a cell. Only texts are made safe: a negative number is no
// formula.
func (f csvForm) cell(v any) (string, error) {
	if text, ok := v.(string); ok {
		return f.text(text), nil
	}
	return cellOf(v)
}

// cellOf returns text as it is, null as nothing, and other values as JSON.
func cellOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return encodeJSON(v)
}

func (f csvForm) text(s string) string {
	if f.safe && s != "" && strings.IndexByte("=+-@\t\r\n", s[0]) >= 0 {
		return "'" + s
	}
	return s
}

func writeCSV(records [][]string, comma rune) (any, error) {
	var written strings.Builder
	writer := csv.NewWriter(&written)
	writer.Comma = comma
	for _, record := range records {
		if len(record) == 1 && record[0] == "" {
			writer.Flush()
			written.WriteString("\"\"\n") // readers skip empty lines
			continue
		}
		if err := writer.Write(record); err != nil {
			return nil, fmt.Errorf("writing CSV: %w", err)
		}
		if written.Len() > value.MaxSize {
			return nil, value.TooLarge(value.MaxSize)
		}
	}
	writer.Flush()
	if written.Len() > value.MaxSize {
		return nil, value.TooLarge(value.MaxSize)
	}
	return written.String(), nil
}
