package step

import (
	"context"

	"sluice/command"
)

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
			return toCSV(p.Input, csvForm{comma: comma, header: p.Header == nil || *p.Header, columns: p.Columns, safe: p.Safe})
		},
		command.Pure)
}
