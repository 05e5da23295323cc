package sender

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// wycheproof are vectors of github.com/C2SP/wycheproof (Apache License 2.0): signatures that an
// implementation must take, and those that careless ones take as well.
type wycheproof struct {
	Groups []struct {
		TagSize   int    `json:"tagSize"`      // of an HMAC, in bits
		PublicKey string `json:"publicKeyPem"` // of a signature
		Tests     []struct {
			ID      int    `json:"tcId"`
			Comment string `json:"comment"`
			Key     string `json:"key"` // of an HMAC
			Message string `json:"msg"`
			Tag     string `json:"tag"` // of an HMAC
			Sig     string `json:"sig"`
			Result  string `json:"result"`
		} `json:"tests"`
	} `json:"testGroups"`
}

// A wycheproofFile has vectors of an algorithm.
type wycheproofFile struct {
	algorithm, file string
	tagSize         int // bits of a whole HMAC: sender takes none that is cut off
}

var wycheproofs = []wycheproofFile{
	{"sha1", "hmac_sha1", 160},
	{"sha256", "hmac_sha256", 256},
	{"sha512", "hmac_sha512", 512},
	{ed25519Signature, "ed25519", 0},
	{ecdsaSHA256, "ecdsa_secp256r1_sha256", 0},
	{ecdsaSHA256, "ecdsa_secp256r1_sha256_p1363", 0},
	{rsaSHA256, "rsa_signature_2048_sha256", 0},
	{rsaPSSSHA256, "rsa_pss_2048_sha256_mgf1_32", 0},
}

func TestWycheproof(t *testing.T) {
	for _, w := range wycheproofs {
		t.Run(w.algorithm+" "+w.file, func(t *testing.T) {
			good, wrong := disagreements(t, w.algorithm, w.file, w.tagSize)
			for _, what := range wrong {
				t.Error(what)
			}
			if good == 0 {
				t.Error("no signature was accepted")
			}
		})
	}
}

// TestEverySignatureHasVectors: the others have no signature of their own. What a JWT or
// RFC 9421 is signed with is among these.
func TestEverySignatureHasVectors(t *testing.T) {
	for _, algorithm := range algorithms {
		switch algorithm {
		case plainSecret, basicLogin, webToken, messageSignature:
			continue
		}
		if !slices.ContainsFunc(wycheproofs, func(w wycheproofFile) bool { return w.algorithm == algorithm }) {
			t.Errorf("%s has no vectors", algorithm)
		}
	}
}

// TestWycheproofNotices lets another algorithm check the vectors.
func TestWycheproofNotices(t *testing.T) {
	if _, wrong := disagreements(t, "sha512", "hmac_sha256", 256); len(wrong) == 0 {
		t.Error("an algorithm that is wrong agrees with all vectors")
	}
}

// disagreements lets a verifier check vectors. It counts those that are good, and says
// where the verifier is of another opinion.
func disagreements(t *testing.T, algorithm, file string, tagSize int) (good int, wrong []string) {
	for _, group := range readWycheproof(t, file).Groups {
		for _, v := range group.Tests {
			secret, signature := group.PublicKey, v.Sig
			if secret == "" {
				secret, signature = "hex:"+v.Key, v.Tag
			}
			verifier, err := newScheme(Scheme{Header: "Signature", Algorithm: algorithm}, []string{secret}, nil)
			if err != nil {
				t.Fatalf("%d: %v", v.ID, err)
			}
			body, err := hex.DecodeString(v.Message)
			if err != nil {
				t.Fatal(err)
			}
			call := &Call{Method: http.MethodPost, Header: http.Header{"Signature": {signature}}, Body: body}
			taken := verifier.Verify(context.Background(), call, time.Now()) == nil
			want := v.Result == "valid" && group.TagSize == tagSize
			if want {
				good++
			}
			// A salt of another length is as safe, and what many senders have by default.
			open := v.Result == "acceptable" || strings.HasPrefix(v.Comment, "s_len changed")
			if taken != want && !open {
				wrong = append(wrong, fmt.Sprintf("vector %d, %s: it is %s, and taken: %t", v.ID, v.Comment, v.Result, taken))
			}
		}
	}
	return good, wrong
}

func readWycheproof(t *testing.T, name string) (w wycheproof) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "wycheproof", name+".json.gz"))
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
