package backup

import (
	"golang.org/x/crypto/argon2"

	"sluice"
	"sluice/seal"
)

// A SealedKey is the key that opens the records of a backup, sealed with a passphrase.
// An empty passphrase only hides it from a glance: whoever has the file has the key.
type SealedKey struct {
	Passphrase bool   `json:"passphrase"` // there is one
	Salt       []byte `json:"salt"`
	Sealed     []byte `json:"sealed"`
}

// Open returns the key.
func (k *SealedKey) Open(passphrase string) (string, error) {
	if k.Passphrase && passphrase == "" {
		return "", sluice.CodePassphraseMissing.Errorf(
			"The key in this backup is sealed with a passphrase; give it as SLUICE_BACKUP_PASSPHRASE.")
	}
	if !k.Passphrase {
		passphrase = ""
	}
	box, err := k.box(passphrase)
	if err != nil {
		return "", err
	}
	key, err := box.Open(keyName, k.Sealed)
	if err != nil {
		return "", sluice.CodePassphraseWrong.Errorf(
			"The key in this backup was sealed with another passphrase.").Because(err)
	}
	return string(key), nil
}

// box is slow on purpose if there is a passphrase: people think up weak ones.
func (k *SealedKey) box(passphrase string) (*seal.Box, error) {
	const threads = 1
	passes, memory := uint32(3), uint32(64<<10) // as RFC 9106 recommends
	if passphrase == "" {
		passes, memory = 1, 8
	}
	return seal.New(argon2.IDKey([]byte(passphrase), k.Salt, passes, memory, threads, seal.KeySize))
}

const keyName = "key of a backup" // what the box seals it for

// SealKey seals a key with a passphrase, which may be empty.
func SealKey(key, passphrase string) (*SealedKey, error) {
	k := &SealedKey{Passphrase: passphrase != "", Salt: sluice.RandomBytes(16)}
	box, err := k.box(passphrase)
	if err != nil {
		return nil, err
	}
	k.Sealed = box.Seal(keyName, []byte(key))
	return k, nil
}
