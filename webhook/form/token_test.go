package form

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"sluice/value"
)

// FuzzRequestToken: tokens in query and header are taken if they agree, however
// they are spread. One that is empty is none.
func FuzzRequestToken(f *testing.F) {
	const token = "0b9f3c1e-6a52-4d0e-9f4e-2f1f7f2f9a10"
	f.Add("token="+token, "", "", false)
	f.Add("uuid="+token, token, "0B9F3C1E-6A52-4D0E-9F4E-2F1F7F2F9A10", true)
	f.Add("token="+token+"&token="+token, "", "", false)
	f.Add("token="+token, "", "", true) // empty headers beside it
	f.Add("token=", token, "", false)
	f.Add("token=a&uuid=b", "c", "d", true)
	f.Add("a=1&token=%00%ff", "\x7f", "", false)
	f.Fuzz(func(t *testing.T, rawQuery, tokenHeader, uuidHeader string, bothHeaders bool) {
		query, err := url.ParseQuery(rawQuery)
		if err != nil {
			return
		}
		header := make(http.Header)
		if tokenHeader != "" || bothHeaders {
			header["Token"] = []string{tokenHeader}
		}
		if bothHeaders {
			header["Uuid"] = []string{uuidHeader}
		}
		parsed, err := ParseQuery(nil, rawQuery)
		if err != nil {
			t.Fatalf("%q is malformed: %v", rawQuery, err)
		}
		got, err := Token(parsed, header)
		want, ambiguous := expectedToken(query["token"], query["uuid"], header["Token"], header["Uuid"])
		if (err != nil) != ambiguous {
			t.Fatalf("error is %v, want one: %t", err, ambiguous)
		}
		if err == nil && Canonical(got) != Canonical(want) {
			t.Fatalf("the token is %q, want %q", got, want)
		}
	})
}

// expectedToken says it the plain way: a place with two values is ambiguous, and
// so are two tokens that differ.
func expectedToken(places ...[]string) (token string, ambiguous bool) {
	for _, values := range places {
		if len(values) > 1 {
			return "", true
		}
		for _, value := range values {
			if value == "" {
				continue
			}
			if token != "" && Canonical(token) != Canonical(value) {
				return "", true
			}
			token = value
		}
	}
	return token, false
}

// FuzzBodyToken: where a token is taken from a body, it is not there any more,
// and nothing else has changed.
func FuzzBodyToken(f *testing.F) {
	const form, object = "application/x-www-form-urlencoded", "application/json"
	for _, body := range []string{
		"token=x", "token=x&a=1", "a=1&token=x&b=%20", "a=1&token=x", "t%6fken=x&a", "token=x&token=y", "&&token=%zz&=", "a;token=x", "",
	} {
		f.Add(form, []byte(body))
	}
	for _, body := range []string{
		`{"token":"x"}`, `{"token":"x","a":1}`, `{"a":1,"token":"x","b":[2]}`, `{"a":1,"token":"x"}`,
		"{\n \"a\" : 1 ,\n \"token\" : \"x\"\n}\n", `{"tok\u0065n":"x"}`, `{"token":"x","token":"y"}`, `{"token":{"token":"x"}}`,
		`{"a":"\"token\":\"x\"","token":"\u0078"}`, `{"token":null}`, `{"token":""}`, `{"token":"x"} `, `{"token":"x"}}`, `{"token":"x",}`,
		`[{"token":"x"}]`, `{"token":"x"`, "{\"token\":\"\xff\"}", "\ufeff{\"token\":\"x\"}", `"token"`, `{`, ``,
	} {
		f.Add(object, []byte(body))
	}
	f.Add("application/problem+json; charset=utf-8", []byte(`{"token":"x"}`))
	f.Add("text/plain", []byte(`token=x`))
	f.Add("multipart/form-data; boundary=b", []byte("--b--"))
	f.Add(";;", []byte(`token=x`))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		before := bytes.Clone(body)
		token, rest, err := BodyToken(contentType, body)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed in place")
		}
		if err != nil {
			return
		}
		if token == "" {
			if !bytes.Equal(rest, body) && !hasEmptyToken(contentType, body) {
				t.Fatalf("there is no token in %q, yet it became %q", body, rest)
			}
			return
		}
		if again, _, err := BodyToken(contentType, rest); again != "" || err != nil {
			t.Fatalf("%q still has the token %q, %v", rest, again, err)
		}
		media, _, _ := mime.ParseMediaType(contentType)
		if media == form {
			wantFormWithoutToken(t, body, rest)
		} else {
			wantObjectWithoutToken(t, body, rest)
		}
	})
}

// hasEmptyToken reports whether a body has a token that says nothing: the call
// is refused, so it doesn't matter whether it is cut out.
func hasEmptyToken(contentType string, body []byte) bool {
	if media, _, _ := mime.ParseMediaType(contentType); !value.IsMediaType(media) {
		values, err := url.ParseQuery(string(body))
		return err != nil || values.Has("token")
	}
	return bytes.Contains(body, []byte(`"`))
}

func wantFormWithoutToken(t *testing.T, body, rest []byte) {
	t.Helper()
	before, err := url.ParseQuery(string(body))
	if err != nil {
		return // has pairs that no two readers read alike
	}
	delete(before, "token")
	after, err := url.ParseQuery(string(rest))
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Fatalf("%q became %q, %v", body, rest, err)
	}
}

func wantObjectWithoutToken(t *testing.T, body, rest []byte) {
	t.Helper()
	if !isBodyWithOneCut(body, rest) {
		t.Fatalf("%q became %q: more than one piece was cut out", body, rest)
	}
	var before, after map[string]json.RawMessage
	if json.Unmarshal(body, &before) != nil {
		return // the beginning of the body alone is an object
	}
	if err := json.Unmarshal(rest, &after); err != nil {
		t.Fatalf("%q became %q, which is no JSON: %v", body, rest, err)
	}
	delete(before, "token")
	if !reflect.DeepEqual(before, after) {
		t.Fatalf("%q became %q, which has other members", body, rest)
	}
}

// isBodyWithOneCut reports whether rest is the body without one piece.
func isBodyWithOneCut(body, rest []byte) bool {
	same := 0
	for same < len(rest) && body[same] == rest[same] {
		same++
	}
	return len(rest) < len(body) && bytes.HasSuffix(body, rest[same:])
}
