package step

import (
	"encoding/base64"
	"encoding/hex"
	"strings"

	"sluice"
)

// ParseKey reads a key of KeySize bytes that is written in hex or in base64,
// in either alphabet, with padding or without. Passphrases are refused: what
// people think up can be guessed by whoever has the sealed values.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if key, err := hex.DecodeString(text); err == nil && len(key) == KeySize {
		return key, nil
	}
	digits := standardDigits(strings.TrimRight(text, "="))
	if key, err := base64.RawStdEncoding.DecodeString(digits); err == nil && len(key) == KeySize {
		return key, nil
	}
	return nil, sluice.Errorf(sluice.Invalid, "secret-key-invalid",
		"The key of secrets must be %d random bytes in base64 or hex; openssl rand -base64 %d makes one.", KeySize, KeySize)
}
