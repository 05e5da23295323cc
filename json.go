package sluice

import "sluice/value"

// marshal returns the JSON of a value of ours, which has one.
func marshal(v any) []byte {
	text, err := value.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
