package sender

import (
	"strings"
	"testing"

	"sluice"
)

func TestParseScheme(t *testing.T) {
	tests := []struct{ text, parameter, message string }{
		{`{"header": "X-S"}`, "", ""},
		{`{"header": "X-S", "format": "t={timestamp}, v1={signature}", "signed": "{timestamp}{body}"}`, "", ""},
		{`{"header": "X-S", "format": "v1={signature};t={timestamp}", "signed": "{timestamp}{body}", "tolerance": "1h"}`, "", ""},
		{``, "signature", "JSON object"},
		{`null`, "signature.header", "header"},
		{`[]`, "signature", "JSON object"},
		{`"x"`, "signature", "JSON object"},
		{`{"header": "X-S"} {}`, "signature", "nothing behind"},
		{`{"header": 1}`, "signature.header", "text"},
		{`{"header": "X-S", "tolerance": 300}`, "signature.tolerance", "text"},
		{`{"header": "X-S", "prefix": "x"}`, "signature", `no field "prefix"`},
		{`{}`, "signature.header", "missing"},
		{`{"header": "X S"}`, "signature.header", "name of a header"},
		{`{"header": "X-S\r\nX: y"}`, "signature.header", "name of a header"},
		{`{"header": "` + strings.Repeat("x", 129) + `"}`, "signature.header", "name of a header"},
		{`{"header": "X-S", "timestampHeader": ":"}`, "signature.timestampHeader", "name of a header"},
		{`{"header": "X-S", "idHeader": "ü"}`, "signature.idHeader", "name of a header"},
		{`{"header": "X-S", "algorithm": "md5"}`, "signature.algorithm", "sha256"},
		{`{"header": "X-S", "encoding": "base32"}`, "signature.encoding", "hex or base64"},
		{`{"header": "X-S", "format": "sha256="}`, "signature.format", "{signature}"},
		{`{"header": "X-S", "format": "{timestamp}"}`, "signature.format", "once"},
		{`{"header": "X-S", "format": "{signature}{timestamp}"}`, "signature.format", "comma"},
		{`{"header": "X-S", "format": "a={signature},b={signature}"}`, "signature.format", "once"},
		{`{"header": "X-S", "format": "{signature},{timestamp}"}`, "signature.format", "different"},
		{`{"header": "X-S", "format": "v={signature},v={timestamp}"}`, "signature.format", "different"},
		{`{"header": "X-S", "format": "{signature} "}`, "signature.format", "must end"},
		{`{"header": "X-S", "format": "{sig}"}`, "signature.format", "{sig}"},
		{`{"header": "X-S", "format": "{signature"}`, "signature.format", "must end"},
		{`{"header": "X-S", "format": "ü={signature}"}`, "signature.format", "ASCII"},
		{`{"header": "X-S", "format": "` + strings.Repeat("x", 300) + `{signature}"}`, "signature.format", "256"},
		{`{"header": "X-S", "signed": "{timestamp}"}`, "signature.signed", "{body}"},
		{`{"header": "X-S", "signed": "{boddy}"}`, "signature.signed", "{boddy}"},
		{`{"header": "X-S", "signed": "{body"}`, "signature.signed", "placeholder"},
		{`{"header": "X-S", "signed": "` + strings.Repeat("{body}", 17) + `"}`, "signature.signed", "16"},
		{`{"header": "X-S", "signed": "{timestamp}.{body}"}`, "signature.signed", "where the time is"},
		{`{"header": "X-S", "timestampHeader": "X-T"}`, "signature.signed", "any time"},
		{`{"header": "X-S", "format": "t={timestamp},v={signature}", "timestampHeader": "X-T", "signed": "{timestamp}{body}"}`, "signature.timestampHeader", "too many"},
		{`{"header": "X-S", "timestampHeader": "x-s", "signed": "{timestamp}{body}"}`, "signature.timestampHeader", "another header"},
		{`{"header": "X-S", "idHeader": "x-s", "signed": "{id}{body}"}`, "signature.idHeader", "another header"},
		{`{"header": "X-S", "timestampHeader": "X-T", "idHeader": "X-T", "signed": "{timestamp}{id}{body}"}`, "signature.idHeader", "another header"},
		{`{"header": "X-S", "signed": "{id}{body}"}`, "signature.signed", "idHeader"},
		{`{"header": "X-S", "idHeader": "X-I"}`, "signature.idHeader", "no use"},
		{`{"header": "X-S", "tolerance": "5m"}`, "signature.tolerance", "no use"},
		{`{"header": "X-S", "timestampHeader": "X-T", "signed": "{timestamp}{body}", "tolerance": "5"}`, "signature.tolerance", "duration"},
		{`{"header": "X-S", "timestampHeader": "X-T", "signed": "{timestamp}{body}", "tolerance": "-5m"}`, "signature.tolerance", "duration"},
		{`{"header": "X-S", "timestampHeader": "X-T", "signed": "{timestamp}{body}", "tolerance": "25h"}`, "signature.tolerance", "24h"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			_, err := ParseScheme([]byte(test.text))
			if test.parameter == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			if e := sluice.AsError(err); e.Kind != sluice.Invalid || e.Parameter != test.parameter || !strings.Contains(e.Message, test.message) {
				t.Errorf("%s: %s", e.Parameter, e.Message)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	hmac, signed := Scheme{Header: "X-S"}, Scheme{Header: "X-S", Algorithm: "ed25519"}
	const key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a" // RFC 8032, 7.1
	for name, test := range map[string]struct {
		scheme  Scheme
		secrets []string
		ok      bool
	}{
		"one":                        {hmac, []string{"a"}, true},
		"two":                        {hmac, []string{"a", "b"}, true},
		"three":                      {hmac, []string{"a", "b", "c"}, false},
		"none":                       {hmac, nil, false},
		"empty":                      {hmac, []string{""}, false},
		"second empty":               {hmac, []string{"a", " "}, false},
		"base64":                     {hmac, []string{"base64:c2VjcmV0"}, true},
		"not base64":                 {hmac, []string{"base64:%%"}, false},
		"base64 of nothing":          {hmac, []string{"base64:"}, false},
		"hex":                        {hmac, []string{"hex:c0ffee"}, true},
		"not hex":                    {hmac, []string{"hex:coffee"}, false},
		"ed25519 in hex":             {signed, []string{key}, true},
		"ed25519 in base64":          {signed, []string{"11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="}, true},
		"ed25519 in base64, whpk_":   {signed, []string{"whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="}, true},
		"ed25519 in base64, SPKI":    {signed, []string{"MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="}, true},
		"ed25519 in PEM":             {signed, []string{"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n"}, true},
		"ed25519 too short":          {signed, []string{key[:62]}, false},
		"ed25519 too long":           {signed, []string{key + "00"}, false},
		"ed25519 that is no key":     {signed, []string{"hello"}, false},
		"ed25519 in PEM on one line": {signed, []string{"-----BEGIN PUBLIC KEY-----MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=-----END PUBLIC KEY-----"}, true},
		"ed25519 PEM of another key": {signed, []string{"-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newScheme(test.scheme, test.secrets, nil)
			if (err == nil) != test.ok {
				t.Errorf("error is %v", err)
			}
			if err != nil && sluice.AsError(err).Parameter != "signingSecret" {
				t.Errorf("parameter is %s", sluice.AsError(err).Parameter)
			}
		})
	}
}

func TestSecretsOfPresets(t *testing.T) {
	for _, p := range Presets() {
		if _, err := New(p, nil, listedKeys{}); (err == nil) != p.SecretOptional {
			t.Errorf("%s without a secret: %v", p.Name, err)
		}
		if _, err := New(p, []string{"  "}, listedKeys{}); err == nil || sluice.AsError(err).Parameter != "signingSecret" {
			t.Errorf("%s with an empty secret: %v", p.Name, err)
		}
	}
	for _, text := range []string{"a,b", "a", ""} {
		secrets, err := SplitSecrets(text)
		if err != nil || strings.Join(secrets, ",") != text {
			t.Errorf("%q gives %q, %v", text, secrets, err)
		}
	}
	if _, err := SplitSecrets("a,b,c"); err == nil {
		t.Error("three secrets are accepted")
	}
}
