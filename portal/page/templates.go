package page

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

//go:embed *.html
var own embed.FS

// layout is the template that all pages have in common, with the parts that they share. It is parsed
// for the first page, so that starting is quick.
var layout = sync.OnceValue(func() *template.Template {
	shared := template.New("layout").Funcs(functions)
	for _, name := range []string{"layout", "parts", "plots", "call_table"} {
		content, err := own.ReadFile(name + ".html")
		if err != nil {
			panic(err)
		}
		template.Must(shared.Parse(unbroken(string(content))))
	}
	return shared
})

// Add adds the templates of a room: files whose names are those of pages, and end in .html.
func (s *Site) Add(templates fs.FS) { s.templates = append(s.templates, templates) }

// template returns the template of a page.
func (s *Site) template(name string) (*template.Template, error) {
	if parsed, ok := s.parsed.Load(name); ok {
		return parsed.(*template.Template), nil
	}
	for _, files := range s.templates {
		content, err := fs.ReadFile(files, name+".html")
		if err != nil {
			continue // another room has it
		}
		page, err := layout().Clone()
		if err == nil {
			page, err = page.Parse(unbroken(string(content)))
		}
		if err == nil {
			s.parsed.Store(name, page)
		}
		return page, err
	}
	return nil, fmt.Errorf("no room has a template %s", name)
}

// unbroken joins the lines of a template, which has one element a line for those who read it. A
// line break in a text is a space. Beside the tag of a block, and beside an action that writes
// nothing, it is nothing: so a list without items stays empty, and pages stay small.
func unbroken(source string) string {
	var joined string
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && joined != "" && (withinTag(joined) || !isBlock(lastOf(joined)) && !isBlock(line)) {
			joined += " "
		}
		joined += line
	}
	return joined
}

// withinTag reports whether a text ends within a tag, between two attributes.
func withinTag(text string) bool {
	return strings.LastIndexByte(text, '<') > strings.LastIndexByte(text, '>')
}

// lastOf returns the tag or the action that a text ends with, or "".
func lastOf(text string) string {
	switch {
	case strings.HasSuffix(text, ">"):
		return text[strings.LastIndexByte(text, '<'):]
	case strings.HasSuffix(text, "}}"):
		return text[strings.LastIndex(text, "{{"):]
	}
	return ""
}

// isBlock reports whether a text begins with the tag of a block, or with an action that writes nothing.
func isBlock(text string) bool { return blockStart.MatchString(text) && !inlineStart.MatchString(text) }

var (
	blockStart  = regexp.MustCompile(`^(?:</?[a-z!]|{{-? ?(?:(?:if|else|end|range|with|define|block)\b|\$\w+ :?=))`)
	inlineStart = regexp.MustCompile(`^</?(?:a|b|br|code|i|kbd|small|span|time|wbr)[ >]`)
)
