package administration

// These return parts of decoded JSON, empty if they are missing.

func text(value any) string {
	s, _ := value.(string)
	return s
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

func texts(value any) (all []string) {
	for _, item := range list(value) {
		all = append(all, text(item))
	}
	return all
}

func object(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}
