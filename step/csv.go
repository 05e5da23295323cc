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

type fromCSVParams struct {
	Input     any    `json:"input" body:"default" doc:"The CSV to read."`
	Delimiter string `json:"delimiter" doc:"Character between the cells. Default a comma."`
	Header    *bool  `json:"header" doc:"Whether the first line names the columns, which gives a list of objects (default); otherwise a list of lists."`
	Charset   string `json:"charset" doc:"Charset of the CSV, such as windows-1252: the input is then base64, as files are that are not UTF-8."`
}

// fromCSV returns a list of objects with the names in the header, or without a header a
// list of lists.
func fromCSV(_ context.Context, p fromCSVParams) (any, error) {
	comma, err := delimiterOf(p.Delimiter)
	if err != nil {
		return nil, err
	}
	text := ""
	if p.Charset != "" {
		text, err = fromBase64(p.Input, p.Charset)
	} else {
		text, err = textIn(p.Input, value.MaxSize, "CSV", "\r\n"+string(comma))
	}
	if err != nil {
		return nil, err
	}
	text = strings.TrimPrefix(text, "\ufeff") // spreadsheets put it there
	if strings.Count(text, string(comma))+strings.Count(text, "\n") > value.MaxValues {
		return nil, value.TooManyValues()
	}
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma = comma
	if p.Header != nil && !*p.Header {
		reader.FieldsPerRecord = -1
		return readRows(reader, nil)
	}
	names, err := reader.Read()
	switch {
	case errors.Is(err, io.EOF):
		return []any{}, nil
	case err == nil:
		err = checkNames(names)
	}
	if err != nil {
		return nil, csvError(err)
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
			return nil, value.TooManyItems()
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
		return value.Texts(cells)
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
	return sluice.CodeCSVInvalid.Errorf("This CSV can't be read: %s.", why)
}

type toCSVParams struct {
	Input     any      `json:"input" body:"default" doc:"List of objects or of lists to write."`
	Delimiter string   `json:"delimiter" doc:"Character between the cells. Default a comma."`
	Header    *bool    `json:"header" doc:"Whether the first line names the columns of objects. Default true."`
	Columns   []string `json:"columns" doc:"Fields of the objects to write, in this order. Default all, in the order of their names."`
	Safe      bool     `json:"safe" doc:"Whether texts that begin with =, +, -, @, a tab or a line end get a ' in front, so that a spreadsheet takes them for text and not for a formula. Default false."`
}

// toCSV writes a list of objects or a list of lists.
func toCSV(_ context.Context, p toCSVParams) (any, error) {
	comma, err := delimiterOf(p.Delimiter)
	if err == nil {
		err = weigh(p.Input)
	}
	if err != nil {
		return nil, err
	}
	items, ok := p.Input.([]any)
	if !ok {
		return nil, invalid("input", "must be a list of objects or a list of lists, not %s", value.Describe(p.Input))
	}
	rows, err := p.rows(items)
	if err != nil {
		return nil, err
	}
	return p.write(rows, comma)
}

// rows returns the cells of each line, the header included.
func (p toCSVParams) rows(items []any) (rows [][]any, err error) {
	columns, lists := p.Columns, false
	if len(items) > 0 {
		_, lists = items[0].([]any)
	}
	switch {
	case lists && len(columns) > 0:
		return nil, invalid("columns", "names fields of objects; the input has lists")
	case !lists && len(columns) == 0:
		columns = columnsOf(items)
	}
	if len(columns)*len(items) > value.MaxValues {
		return nil, value.TooManyValues()
	}
	if (p.Header == nil || *p.Header) && len(columns) > 0 {
		rows = append(rows, value.Texts(columns))
	}
	for i, item := range items {
		row, ok := item.([]any)
		due := "a list"
		if !lists {
			var object map[string]any
			object, ok = item.(map[string]any)
			due, row = "an object", make([]any, len(columns))
			for j, column := range columns {
				row[j] = object[column]
			}
		}
		if !ok {
			return nil, invalid("input",
				"must be a list of objects or a list of lists; its item %d is %s where %s is due",
				i+1, value.Describe(item), due)
		}
		rows = append(rows, row)
	}
	return rows, nil
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
func (p toCSVParams) cell(v any) (string, error) {
	text, _ := v.(string)
	if p.Safe && text != "" && strings.IndexByte("=+-@\t\r\n", text[0]) >= 0 {
		return "'" + text, nil
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

func (p toCSVParams) write(rows [][]any, comma rune) (any, error) {
	var written strings.Builder
	writer := csv.NewWriter(&written)
	writer.Comma = comma
	for _, row := range rows {
		record := make([]string, len(row))
		for i, v := range row {
			var err error
			if record[i], err = p.cell(v); err != nil {
				return nil, err
			}
		}
		if len(record) == 1 && record[0] == "" {
			writer.Flush()
			written.WriteString("\"\"\n") // readers skip empty lines
			continue
		}
		if err := writer.Write(record); err != nil {
			return nil, fmt.Errorf("writing CSV: %w", err)
		}
		if written.Len() > value.MaxSize {
			break
		}
	}
	if writer.Flush(); written.Len() > value.MaxSize {
		return nil, value.TooLarge(value.MaxSize)
	}
	return written.String(), nil
}
