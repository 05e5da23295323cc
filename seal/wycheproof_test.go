package seal_test

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"sluice/seal"
)

// wycheproof are vectors of github.com/C2SP/wycheproof (Apache License 2.0) for AES-GCM.
type wycheproof struct {
	Groups []struct {
		IVSize  int `json:"ivSize"` // in bits
		KeySize int `json:"keySize"`
		TagSize int `json:"tagSize"`
		Tests   []struct {
			ID                         int `json:"tcId"`
			Key, IV, AAD, Msg, CT, Tag bytesOfHex
			Result                     string
		} `json:"tests"`
	} `json:"testGroups"`
}

type bytesOfHex []byte

func (b *bytesOfHex) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// TestWycheproof opens what others have sealed with keys and nonces of our lengths. A
// sealed value is the nonce, the text and its tag.
func TestWycheproof(t *testing.T) {
	if taken, refused, wrong := disagreements(t, func(sealed []byte) []byte { return sealed }); len(wrong) > 0 || taken == 0 || refused == 0 {
		t.Errorf("%d taken, %d refused, another opinion on: %v", taken, refused, wrong)
	}
}

// TestWycheproofNotices changes one bit of each.
func TestWycheproofNotices(t *testing.T) {
	flip := func(sealed []byte) []byte {
		sealed[len(sealed)-1] ^= 1
		return sealed
	}
	if _, _, wrong := disagreements(t, flip); len(wrong) == 0 {
		t.Error("nothing is noticed")
	}
}

func disagreements(t *testing.T, change func([]byte) []byte) (taken, refused int, wrong []int) {
	t.Helper()
	for _, group := range readWycheproof(t).Groups {
		if group.IVSize != 96 || group.KeySize != 8*seal.KeySize || group.TagSize != 128 {
			continue
		}
		for _, v := range group.Tests {
			box, err := seal.New(v.Key)
			if err != nil {
				t.Fatal(err)
			}
			value, err := box.Open(string(v.AAD), change(slices.Concat(v.IV, v.CT, v.Tag)))
			ok := err == nil
			if ok {
				taken++
			} else {
				refused++
			}
			if ok != (v.Result == "valid") || ok && !bytes.Equal(value, v.Msg) {
				wrong = append(wrong, v.ID)
			}
		}
	}
	return taken, refused, wrong
}

func readWycheproof(t *testing.T) (w wycheproof) {
	t.Helper()
	file, err := os.Open("testdata/aes_gcm.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := gzip.NewReader(file)
	if err == nil {
		err = json.NewDecoder(content).Decode(&w)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}
