package step

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // some senders have nothing better
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"

	"sluice/value"
)

type hashParams struct {
	Input     any    `json:"input" body:"default" doc:"What to hash: text as it is, another value as JSON."`
	Algorithm string `json:"algorithm" enum:"sha256,sha1,sha512" doc:"Default sha256."`
	Encoding  string `json:"encoding" enum:"hex,base64" doc:"How the hash is written. Default hex."`
}

func hashOf(_ context.Context, p hashParams) (any, error) {
	return digest(p.Input, nil, p.Algorithm, p.Encoding)
}

type hmacParams struct {
	Input     any    `json:"input" body:"default" doc:"What to sign: text as it is, another value as JSON."`
	Key       string `json:"key" required:"true" doc:"The key, which is text: best secret('name')."`
	Algorithm string `json:"algorithm" enum:"sha256,sha1,sha512" doc:"Default sha256."`
	Encoding  string `json:"encoding" enum:"hex,base64" doc:"How the code is written. Default hex."`
}

func hmacOf(_ context.Context, p hmacParams) (any, error) {
	return digest(p.Input, &p.Key, p.Algorithm, p.Encoding)
}

func hashFunction(args []any) (any, error) { return digestOf(args[0], nil, args[1:]) }

func hmacFunction(args []any) (any, error) {
	key, ok := args[1].(string)
	if !ok {
		return nil, invalid("key", "must be text, not %s", value.Describe(args[1]))
	}
	return digestOf(args[0], &key, args[2:])
}

// digestOf reads the optional arguments algorithm and encoding.
func digestOf(input any, key *string, rest []any) (any, error) {
	algorithm, err := optional(rest, 0, "algorithm")
	if err != nil {
		return nil, err
	}
	encoding, err := optional(rest, 1, "encoding")
	if err != nil {
		return nil, err
	}
	return digest(input, key, algorithm, encoding)
}

// digest returns a hash, or with a key an HMAC.
func digest(input any, key *string, algorithm, encoding string) (any, error) {
	newHash, ok := map[string]func() hash.Hash{
		"": sha256.New, "sha256": sha256.New, "sha1": sha1.New, "sha512": sha512.New,
	}[algorithm]
	if !ok {
		return nil, invalid("algorithm", "must be sha256, sha1 or sha512")
	}
	encode, ok := map[string]func([]byte) string{
		"": hex.EncodeToString, "hex": hex.EncodeToString, "base64": base64.StdEncoding.EncodeToString,
	}[encoding]
	if !ok {
		return nil, invalid("encoding", "must be hex or base64")
	}
	text, err := textOrJSON(input)
	if err != nil {
		return nil, err
	}
	hashed := newHash()
	if key != nil {
		if *key == "" {
			return nil, invalid("key", "must not be empty: then everybody could sign")
		}
		hashed = hmac.New(newHash, []byte(*key))
	}
	_, _ = io.WriteString(hashed, text) // a hash takes everything
	return encode(hashed.Sum(nil)), nil
}

// equalFunction compares texts in constant time. Null equals nothing, not even null: a
// missing signature never matches.
func equalFunction(args []any) (any, error) {
	var texts [2]string
	for i, arg := range args {
		switch arg := arg.(type) {
		case nil:
			return false, nil
		case string:
			texts[i] = arg
		default:
			return nil, invalid("input", "must be text, not %s", value.Describe(arg))
		}
	}
	a, b := sha256.Sum256([]byte(texts[0])), sha256.Sum256([]byte(texts[1])) // of one length
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1, nil
}
