package outward

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// An awsKey signs requests by Signature Version 4 of AWS.
type awsKey struct{ id, secret, session, service, region string }

const (
	awsTime = "20060102T150405Z"
	awsEnd  = "aws4_request"
)

// unsigned are the headers that are no part of the signature: those on the way may change them.
var unsigned = []string{
	"Authorization", "User-Agent", "Accept-Encoding", "Traceparent", "Tracestate", "X-Amzn-Trace-Id",
}

// daily returns the key for the signatures of a day.
func (k awsKey) daily(day string) string {
	key := "AWS4" + k.secret
	for _, part := range []string{day, k.region, k.service, awsEnd} {
		key = macOf(key, part)
	}
	return key
}

func macOf(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return string(mac.Sum(nil))
}

// sign puts the signature of a request into its headers, beside the time and the hash of the body.
func (k awsKey) sign(r *http.Request, now time.Time) error {
	query, err := k.normalize(r.URL)
	if err != nil {
		return err
	}
	body, err := bodyHash(r)
	if err != nil {
		return err
	}
	at := now.UTC().Format(awsTime)
	r.Header.Set("X-Amz-Date", at)
	if k.session != "" {
		r.Header.Set("X-Amz-Security-Token", k.session)
	}
	if k.service == "s3" {
		r.Header.Set("X-Amz-Content-Sha256", body)
	}
	headers, names := canonicalHeaders(r)
	request := strings.Join([]string{r.Method, k.path(r.URL), query, headers, names, body}, "\n")
	day := at[:len("20060102")]
	scope := strings.Join([]string{day, k.region, k.service, awsEnd}, "/")
	hash := sha256.Sum256([]byte(request))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", at, scope, hex.EncodeToString(hash[:])}, "\n")
	authorize(r, "AWS4-HMAC-SHA256 Credential="+k.id+"/"+scope+", SignedHeaders="+names+
		", Signature="+hex.EncodeToString([]byte(macOf(k.daily(day), text))))
	return nil
}

// bodyHash returns the hash of the body of a request, which stays as it is.
func bodyHash(r *http.Request) (string, error) {
	hash := sha256.New()
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return "", err
		}
		if _, err := io.Copy(hash, body); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// normalize writes path and query as they are signed, so that what is sent is the same.
func (k awsKey) normalize(u *url.URL) (query string, err error) {
	if k.service == "s3" || u.RawPath == "" {
		u.RawPath = escapePath(u.Path)
	}
	if u.RawQuery == "" {
		return "", nil
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return "", err
	}
	var pairs [][]string
	for name, list := range values {
		for _, value := range list {
			pairs = append(pairs, []string{awsEscape(name), awsEscape(value)})
		}
	}
	slices.SortFunc(pairs, slices.Compare)
	var parts []string
	for _, pair := range pairs {
		parts = append(parts, strings.Join(pair, "="))
	}
	u.RawQuery = strings.Join(parts, "&")
	return u.RawQuery, nil
}

// path returns the path of a URL as signatures have it: for S3 as it is sent, for others without
// detours, and encoded once more.
func (k awsKey) path(u *url.URL) string {
	sent := cmp.Or(u.EscapedPath(), "/")
	if k.service == "s3" {
		return sent
	}
	clean := path.Clean(sent)
	if strings.HasSuffix(sent, "/") && clean != "/" {
		clean += "/"
	}
	return escapePath(clean)
}

// canonicalHeaders returns the headers that are signed, a line each, and their names.
func canonicalHeaders(r *http.Request) (lines, names string) {
	var text strings.Builder
	signed := map[string][]string{"host": {r.URL.Host}}
	for name, values := range r.Header {
		if len(values) == 0 || slices.Contains(unsigned, name) {
			continue
		}
		name = strings.ToLower(name)
		for _, value := range values { // with single spaces, and none around it
			words := strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == '\t' })
			signed[name] = append(signed[name], strings.Join(words, " "))
		}
	}
	order := slices.Sorted(maps.Keys(signed))
	for _, name := range order {
		text.WriteString(name + ":" + strings.Join(signed[name], ",") + "\n")
	}
	return text.String(), strings.Join(order, ";")
}

// awsEscape encodes all but letters, digits, -, _, . and ~.
func awsEscape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func escapePath(path string) string { return strings.ReplaceAll(awsEscape(path), "%2F", "/") }
