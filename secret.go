package sluice

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"
)

// A Secret is a value that pipelines use and nobody reads back.
type Secret struct {
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	Updated time.Time `json:"updated"`
	Used    time.Time `json:"used,omitzero"` // last, to the minute
}

// A SecretView is a secret as its commands show it: without its value.
type SecretView struct {
	Name     string    `json:"name" doc:"Its name."`
	Updated  time.Time `json:"updated" doc:"When it was last stored."`
	LastUsed time.Time `json:"lastUsed,omitzero" doc:"When a pipeline or a webhook used it last, to the minute."`

	UsedBy *SecretUsers `json:"usedBy,omitempty" doc:"What uses it; lists leave it out."`
}

// SecretUsers are the webhooks and pipelines that name a secret.
type SecretUsers struct {
	Webhooks  []string `json:"webhooks,omitempty" doc:"Event keys of the webhooks whose calls may be signed with it."`
	Pipelines []string `json:"pipelines,omitempty" doc:"Pipelines whose source names it."`
}

// RandomBytes returns bytes that nobody can guess.
func RandomBytes(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b) // never fails
	return b
}

// HashSecret returns the form in which a secret is stored that somebody else shows again. A plain hash is
// enough for one that is long and random.
func HashSecret(secret string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(secret))) }
