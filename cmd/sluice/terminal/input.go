package terminal

import (
	"io"
	"os"
	"strings"

	"sluice/cmd/sluice/exit"
)

// Read returns the content of a file, or of standard input for -.
func (t *Terminal) Read(name string) ([]byte, error) {
	var content []byte
	var err error
	if name == "-" {
		content, err = io.ReadAll(t.In)
	} else {
		content, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, exit.Usage("%v", err)
	}
	return content, nil
}

// ReadBody returns the content of a file, or the text itself if it looks like JSON and
// not like the name of a file.
func (t *Terminal) ReadBody(text string) ([]byte, error) {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`) {
		return []byte(text), nil
	}
	return t.Read(strings.TrimPrefix(text, "@"))
}

// Pairs reads arguments of the form key=value, key=@file and key=@@value.
func (t *Terminal) Pairs(args []string) (map[string][]string, error) {
	values := make(map[string][]string)
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, exit.Usage("%q is not of the form key=value.", arg)
		}
		value, err := t.value(value)
		if err != nil {
			return nil, err
		}
		values[key] = append(values[key], value)
	}
	return values, nil
}

// value returns a value as typed, or the content of a file for @file. @@x means @x.
func (t *Terminal) value(text string) (string, error) {
	file, isFile := strings.CutPrefix(text, "@")
	if !isFile || strings.HasPrefix(file, "@") {
		return file, nil
	}
	content, err := t.Read(file)
	return string(content), err
}
