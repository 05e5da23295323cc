package step

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

func toYAML(input any) (any, error) {
	value, err := plain(input)
	if err != nil {
		return nil, err
	}
	var encoded strings.Builder
	encoder := yaml.NewEncoder(&encoded)
	encoder.SetIndent(2)
	if err := encoder.Encode(yamlReady(value)); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	if encoded.Len() > MaxText {
		return nil, errTooLong(MaxText)
	}
	return encoded.String(), nil
}

// yamlReady lets numbers that Go's types don't hold be written as numbers, and
// in quotes what could not be read back without.
func yamlReady(value any) any {
	switch v := value.(type) {
	case string:
		return yamlText(v)
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(string(v), ".eE") || len(v) > len("-9223372036854775808") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: string(v)}
	case []any:
		for i := range v {
			v[i] = yamlReady(v[i])
		}
	case map[string]any:
		object := make(map[any]any, len(v))
		for key, item := range v {
			object[yamlKey(key)] = yamlReady(item)
		}
		return object
	}
	return value
}

// yamlKey puts the key << in quotes, which would mean something else.
func yamlKey(key string) any {
	if key == "<<" {
		return quotedYAML(key)
	}
	return yamlText(key)
}

// yamlText puts several lines in quotes where the first one begins with a tab:
// as a block, readers would take that for the indentation.
func yamlText(text string) any {
	if strings.Contains(text, "\n") && strings.HasPrefix(strings.TrimLeft(text, "\n"), "\t") {
		return quotedYAML(text)
	}
	return text
}

func quotedYAML(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: text}
}
