package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"sluice/command"
	"sluice/limit"
	"sluice/value"
)

// answer writes what a command returned. A large answer takes memory until the
// caller has read it.
func (a *API) answer(w http.ResponseWriter, r *http.Request, args command.Args, out any) error {
	memory := a.Bodies.Answers.Hold()
	defer memory.Release()
	content, err := encode(w, r, args, out, &memory)
	if err == nil {
		send(w, content)
	}
	return err
}

// encode makes the answer of what a command returned, and takes the memory for it first. The
// header says where the next page is.
func encode(w http.ResponseWriter, r *http.Request, args command.Args, out any, memory *limit.Hold) ([]byte, error) {
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
	if err := memory.Try(2 * value.Length(out)); err != nil { // one is the encoder's own
		return nil, err
	}
	var content bytes.Buffer
	err := value.Encode(&content, out)
	return content.Bytes(), err
}

func send(w http.ResponseWriter, content []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(content) // an error means that the caller has gone
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
