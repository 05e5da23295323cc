package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"sluice/command"
	"sluice/value"
)

// answer writes what a command returned. A large answer takes memory until the
// caller has read it.
func (a *API) answer(w http.ResponseWriter, r *http.Request, args command.Args, out any) error {
	if page, ok := out.(command.Paged); ok {
		items, next := page.Page()
		if next != "" {
			query := url.Values{} // wherever the arguments came from
			for _, arg := range args {
				if arg.Value != nil {
					query.Set(arg.Name, textOf(arg.Value))
				}
			}
			query.Set("after", next)
			w.Header().Set("Link", "<"+r.URL.Path+"?"+query.Encode()+`>; rel="next"`)
		}
		out = items
	}
	var content bytes.Buffer
	if err := value.Encode(&content, out); err != nil {
		return err
	}
	memory := a.Bodies.Answers.Hold()
	defer memory.Release()
	if err := memory.Try(2 * int64(content.Len())); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content.Bytes()) // an error means that the caller has gone
	return nil
}

// textOf returns an argument as text for a query: a list separated by commas, an object
// as JSON.
func textOf(given any) string {
	switch v := given.(type) {
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = textOf(item)
		}
		return strings.Join(items, ",")
	case map[string]any:
		object, _ := value.Marshal(v) // it came as JSON
		return string(object)
	}
	return fmt.Sprint(given)
}

// A document is the output of a command that can also be read as plain text.
type document interface {
	// Document returns the text and its media type.
	Document() (mediaType, text string)
}

// tagged is the output of a command that has versions.
type tagged interface {
	// EntityTag names this version, without quotes.
	EntityTag() string
}
