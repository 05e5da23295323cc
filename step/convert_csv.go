package step

import (
	"context"

	"sluice/command"
)

type fromCSVParams struct {
	Input     any    `json:"input" body:"default" doc:"The CSV to read."`
	Delimiter string `json:"delimiter" doc:"Character between the cells. Default a comma."`
	Header    *bool  `json:"header" doc:"Whether the first line names the columns, which gives a list of objects (default); else a list of lists."`
}

func fromCSVCommand() command.Command {
	return command.New("convert.fromCsv", "Read CSV as a list of objects, or of lists.",
		func(_ context.Context, p fromCSVParams) (any, error) {
			comma, err := delimiterOf(p.Delimiter)
			if err != nil {
				return nil, err
			}
			return fromCSV(p.Input, comma, p.Header == nil || *p.Header)
		},
		command.Pure)
}

type toCSVParams struct {
	Input     any      `json:"input" body:"default" doc:"List of objects or of lists to write."`
	Delimiter string   `json:"delimiter" doc:"Character between the cells. Default a comma."`
	Header    *bool    `json:"header" doc:"Whether the first line names the columns of objects. Default true."`
	Columns   []string `json:"columns" doc:"Fields of the objects to write, in this order. Default all, in the order of their names."`
}

func toCSVCommand() command.Command {
	return command.New("convert.toCsv", "Write a list of objects, or of lists, as CSV. Cells that look like formulas are not changed.",
		func(_ context.Context, p toCSVParams) (any, error) {
			comma, err := delimiterOf(p.Delimiter)
			if err != nil {
				return nil, err
			}
			return toCSV(p.Input, csvForm{comma: comma, header: p.Header == nil || *p.Header, columns: p.Columns})
		},
		command.Pure)
}
