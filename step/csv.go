package step

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/command"
	"sluice/value"
)

// delimiterOf returns the character between cells, by default a comma.
func delimiterOf(text string) (rune, error) {
	if text == "" {
		return ',', nil
	}
	comma, size := utf8.DecodeRuneInString(text)
	if size != len(text) || comma == utf8.RuneError || strings.ContainsRune("\"\r\n", comma) {
		return 0, invalid("delimiter", "must be one character, and no quote or line break")
	}
	return comma, nil
}

// A csvSource says how to read CSV.
type csvSource struct {
	comma   rune
	header  bool   // the first line has the names of the columns
	charset string // of the text behind base64 input; "": the input is text
}

func (s csvSource) text(input any) (string, error) {
	if s.charset != "" {
		decoded, err := fromBase64(input, s.charset)
		if err != nil {
			return "", err
		}
		input = decoded
	}
	text, err := textOf(input, value.MaxSize)
	if err != nil {
		return "", err
	}
	if s.charset == "" {
		if err := refuseBase64(text, "CSV", "\r\n"+string(s.comma)); err != nil {
			return "", err
		}
	}
	return strings.TrimPrefix(text, "\ufeff"), nil // spreadsheets put it there
}

// fromCSV returns a list of objects with the names in the header, or without a header a
// list of lists.
func fromCSV(input any, source csvSource) (any, error) {
	text, err := source.text(input)
	if err != nil {
		return nil, err
	}
	if strings.Count(text, string(source.comma))+strings.Count(text, "\n") > value.MaxValues {
		return nil, value.TooManyValues()
	}
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = source.comma
	var names []string
	if source.header {
		if names, err = reader.Read(); errors.Is(err, io.EOF) {
			return []any{}, nil
		}
		if err == nil {
			err = checkNames(names)
		}
		if err != nil {
			return nil, csvError(err)
		}
	} else {
		reader.FieldsPerRecord = -1
	}
	return readRows(reader, names)
}

func readRows(reader *csv.Reader, names []string) (any, error) {
	rows := []any{}
	values := 0
	for {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, csvError(err)
		}
		if len(rows) == value.MaxItems || len(cells) > value.MaxItems {
			return nil, value.TooManyItems(value.MaxItems)
		}
		if values += len(cells) + 1; values > value.MaxValues {
			return nil, value.TooManyValues()
		}
		rows = append(rows, rowOf(names, cells))
	}
}

// rowOf returns an object, or without names a list.
func rowOf(names, cells []string) any {
	if names == nil {
		list := make([]any, len(cells))
		for i, cell := range cells {
			list[i] = cell
		}
		return list
	}
	object := make(map[string]any, len(cells))
	for i, cell := range cells {
		object[names[i]] = cell
	}
	return object
}

func checkNames(names []string) error {
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		if seen[name] {
			return fmt.Errorf("column %d has the name of one before it; rename it, or read with header: false", i+1)
		}
		seen[name] = true
	}
	return nil
}

// csvError says where the parser stopped.
func csvError(err error) error {
	why := err.Error()
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		why = fmt.Sprintf("line %d, column %d: %s", parse.Line, parse.Column, parse.Err)
		if errors.Is(err, csv.ErrFieldCount) {
			why = fmt.Sprintf("line %d: it has another number of cells than the first line", parse.Line)
		}
	}
	return sluice.Errorf(sluice.CodeCSVInvalid, "This CSV can't be read: %s.", why)
}

type fromCSVParams struct {
	Input     any    `json:"input" body:"default" doc:"The CSV to read."`
	Delimiter string `json:"delimiter" doc:"Character between the cells. Default a comma."`
	Header    *bool  `json:"header" doc:"Whether the first line names the columns, which gives a list of objects (default); otherwise a list of lists."`
	Charset   string `json:"charset" doc:"Charset of the CSV, such as windows-1252: the input is then base64, as files are that are not UTF-8."`
}

func fromCSVCommand(c conversion) command.Command {
	return command.New(c.name, c.summary,
		func(_ context.Context, p fromCSVParams) (any, error) {
			comma, err := delimiterOf(p.Delimiter)
			if err != nil {
				return nil, err
			}
			return fromCSV(p.Input, csvSource{comma: comma, header: p.Header == nil || *p.Header, charset: p.Charset})
		},
		command.Pure)
}

type toCSVParams struct {
	Input     any      `json:"input" body:"default" doc:"List of objects or of lists to write."`
	Delimiter string   `json:"delimiter" doc:"Character between the cells. Default a comma."`
	Header    *bool    `json:"header" doc:"Whether the first line names the columns of objects. Default true."`
	Columns   []string `json:"columns" doc:"Fields of the objects to write, in this order. Default all, in the order of their names."`
	Safe      bool     `json:"safe" doc:"Whether texts that begin with =, +, -, @, a tab or a line end get a ' in front, so that a spreadsheet takes them for text and not for a formula. Default false."`
}

func toCSVCommand(c conversion) command.Command {
	return command.New(c.name, c.summary,
		func(_ context.Context, p toCSVParams) (any, error) {
			comma, err := delimiterOf(p.Delimiter)
			if err != nil {
				return nil, err
			}
			return toCSV(p.Input, csvForm{
				comma: comma, header: p.Header == nil || *p.Header, columns: p.Columns, safe: p.Safe,
			})
		},
		command.Pure)
}

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
	return invalid("input", "must be a list of objects or a list of lists; its item %d is %s where %s is due", row+1,
		value.Describe(got), want)
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
