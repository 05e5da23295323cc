package step

import (
	"encoding/json"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/value"
)

func toYAML(input any) (any, error) {
	if err := weigh(input); err != nil {
		return nil, err
	}
	var text boundedText
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := encoder.Encode(yamlReady(input))
	if err == nil {
		err = encoder.Close()
	}
	if text.full {
		return nil, value.TooLarge(value.MaxSize)
	}
	return text.String(), err
}

// A boundedText stops a writer at the limit: indentation can make YAML a thousand times as
// long as the value.
type boundedText struct {
	strings.Builder

	full bool
}

// Write implements io.Writer.
func (t *boundedText) Write(b []byte) (int, error) {
	if t.full = t.full || t.Len()+len(b) > value.MaxSize; t.full {
		return 0, io.ErrShortWrite
	}
	return t.Builder.Write(b)
}

// yamlReady prepares a value: numbers beyond Go's types stay numbers, and texts that would
// be misread get quotes.
func yamlReady(v any) any {
	switch v := v.(type) {
	case string:
		return yamlText(v)
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(string(v), ".eE") || len(v) > len("-9223372036854775808") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: string(v)}
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = yamlReady(item)
		}
		return list
	case map[string]any:
		object := make(map[any]any, len(v))
		for key, item := range v {
			object[yamlKey(key)] = yamlReady(item)
		}
		return object
	}
	return v
}

// yamlKey puts the key << in quotes, since it means a merge otherwise.
func yamlKey(key string) any {
	if key == "<<" {
		return quotedYAML(key)
	}
	return yamlText(key)
}

// yamlText puts a multi-line text in quotes if it begins with a tab: in a block, readers
// would take the tab for indentation.
func yamlText(text string) any {
	if strings.Contains(text, "\n") && strings.HasPrefix(strings.TrimLeft(text, "\n"), "\t") {
		return quotedYAML(text)
	}
	return text
}

func quotedYAML(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: text}
}
