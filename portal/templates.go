package portal

import (
	"embed"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"
)

//go:embed pages
var pages embed.FS

// templates holds the template of each page, with the layout and the shared parts.
// They are parsed for the first page, so that starting is quick.
var templates = sync.OnceValue(func() map[string]*template.Template {
	shared := template.New("layout").Funcs(functions)
	for _, name := range []string{"layout", "parts", "plots"} {
		parse(shared, "pages/"+name+".html")
	}
	files, err := fs.Glob(pages, "pages/*.html")
	if err != nil {
		panic(err)
	}
	parsed := make(map[string]*template.Template)
	for _, file := range files {
		parsed[strings.TrimSuffix(path.Base(file), ".html")] = parse(template.Must(shared.Clone()), file)
	}
	return parsed
})

func parse(into *template.Template, file string) *template.Template {
	content, err := pages.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return template.Must(into.Parse(unbroken(string(content))))
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
