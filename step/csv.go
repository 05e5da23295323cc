package step

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"sluice"
	"sluice/value"
)

// delimiterOf returns the character between cells; not given, it is a comma.
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

// A csvSource says how CSV is to be read.
type csvSource struct {
	comma   rune
	header  bool   // the first line has the names of the columns
	charset string // the input is base64 of text in it; "": the input is text
}

// text returns the CSV itself.
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

// fromCSV returns a list of objects by the names in the first line, or without
// such a header a list of lists.
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

// rowOf returns an object by names, or without them a list.
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
