package outward

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sort"
	"strings"
	"testing"
	"time"
)

// TestAWSVectors: signatures are those that AWS has published, in its test suite (service
// "service"), in its guide (iam) and in the documents of S3.
func TestAWSVectors(t *testing.T) {
	suite := awsKey{id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", service: "service", region: "us-east-1"}
	iam := suite
	iam.service = "iam"
	s3 := awsKey{id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", service: "s3", region: "us-east-1"}
	const august, may = "20150830T123600Z", "20130524T000000Z"
	const host, bucket = "https://example.amazonaws.com", "https://examplebucket.s3.amazonaws.com"
	for name, test := range map[string]struct {
		key       awsKey
		at        string
		method    string
		url       string
		header    http.Header
		body      string
		names     string
		signature string
	}{
		"get-vanilla":                      {suite, august, "GET", host + "/", nil, "", "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"post-vanilla":                     {suite, august, "POST", host + "/", nil, "", "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		"get-vanilla-query-order-key-case": {suite, august, "GET", host + "/?Param2=value2&Param1=value1", nil, "", "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		"get-vanilla-empty-query-key":      {suite, august, "GET", host + "/?Param1=value1", nil, "", "host;x-amz-date", "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
		"get-header-value-trim":            {suite, august, "GET", host + "/", http.Header{"My-Header1": {" value1"}, "My-Header2": {` "a   b   c"`}}, "", "host;my-header1;my-header2;x-amz-date", "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
		"get-header-key-duplicate":         {suite, august, "GET", host + "/", http.Header{"My-Header1": {"value2", "value2", "value1"}}, "", "host;my-header1;x-amz-date", "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
		"get-relative (normalize-path)":    {suite, august, "GET", host + "/example/..", nil, "", "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"get-slash-dot-slash":              {suite, august, "GET", host + "/./", nil, "", "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"get-slashes":                      {suite, august, "GET", host + "//example//", nil, "", "host;x-amz-date", "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
		"get-unreserved":                   {suite, august, "GET", host + "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", nil, "", "host;x-amz-date", "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
		"post-header-key-sort":             {suite, august, "POST", host + "/", http.Header{"My-Header1": {"value1"}}, "", "host;my-header1;x-amz-date", "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
		"post-x-www-form-urlencoded":       {suite, august, "POST", host + "/", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, "Param1=value1", "content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		"iam ListUsers":                    {iam, august, "GET", "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}, "", "content-type;host;x-amz-date", "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"},
		"S3: get an object":                {s3, may, "GET", bucket + "/test.txt", http.Header{"Range": {"bytes=0-9"}}, "", "host;range;x-amz-content-sha256;x-amz-date", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		"S3: put an object":                {s3, may, "PUT", bucket + "/test$file.text", http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"}, "X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}}, "Welcome to Amazon S3.", "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		"S3: a query without value":        {s3, may, "GET", bucket + "/?lifecycle", nil, "", "host;x-amz-content-sha256;x-amz-date", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		"S3: a list":                       {s3, may, "GET", bucket + "/?max-keys=2&prefix=J", nil, "", "host;x-amz-content-sha256;x-amz-date", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(awsTime, test.at)
			if err != nil {
				t.Fatal(err)
			}
			r, err := http.NewRequest(test.method, test.url, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(r.Header, test.header)
			r.Header.Set("User-Agent", "is not signed")
			if err := test.key.sign(r, now); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s/us-east-1/%s/aws4_request, SignedHeaders=%s, Signature=%s",
				test.key.id, test.at[:8], test.key.service, test.names, test.signature)
			if got := r.Header.Get("Authorization"); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestAWSRequestsAreVerified: what arrives at a server is what was signed, by a verifier that knows
// only the line and the headers of the request.
func TestAWSRequestsAreVerified(t *testing.T) {
	var arrived error
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived = verifyAWS(r, "s3cret/key") }))
	defer server.Close()
	credentials := NewCredentials(http.DefaultTransport.(*http.Transport).Clone())
	for _, service := range []string{"s3", "sqs"} {
		for _, secret := range []string{"AKID:s3cret/key", "AKID:s3cret/key:a/session+token=="} {
			for _, uri := range []string{"", "/", "/a b/c$d,e+f(g)!*'", "/ä/%E1%88%B4", "/a%2Fb", "/a/../b//c/", "/?b=2&a=x+y%20z&a=&a-b=1&c", "/x?q=%2F~*'(", "/:@&="} {
				auth, err := ReadAuth(map[string]any{"aws": map[string]any{"key": "k", "service": service, "region": "eu-central-1"}})
				if err != nil {
					t.Fatal(err)
				}
				target, err := url.Parse(server.URL + uri)
				if err != nil {
					t.Fatal(err)
				}
				client, _, err := credentials.Carrying(Following(nil), auth, target, Secrets{Reveal: func(string) (string, error) { return secret, nil }, Hide: func(string) {}})
				if err != nil {
					t.Fatal(err)
				}
				r := &http.Request{Method: http.MethodPut, URL: target, Header: http.Header{"X-Own": {"a  b"}, "Idempotency-Key": {}, "Content-Type": {"text/plain"}}}
				r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("the body")), nil }
				r.Body, _ = r.GetBody()
				response, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if arrived != nil {
					t.Errorf("%s %s: %v", service, uri, arrived)
				}
			}
		}
	}
}

// verifyAWS checks a signature as the documents of AWS say. It shares nothing with the code that signs.
func verifyAWS(r *http.Request, secret string) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	var credential, signed, signature string
	for part := range strings.SplitSeq(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ", ") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "Credential":
			credential = value
		case "SignedHeaders":
			signed = value
		case "Signature":
			signature = value
		}
	}
	scope := strings.SplitN(credential, "/", 2)[1]
	parts := strings.Split(scope, "/")
	rawPath, rawQuery, _ := strings.Cut(r.RequestURI, "?")
	if parts[2] != "s3" {
		segments := []string{}
		for s := range strings.SplitSeq(rawPath, "/") {
			switch s {
			case "", ".":
			case "..":
				segments = segments[:max(0, len(segments)-1)]
			default:
				segments = append(segments, s)
			}
		}
		normal := "/" + strings.Join(segments, "/")
		if strings.HasSuffix(rawPath, "/") && len(segments) > 0 {
			normal += "/"
		}
		rawPath = percent(normal, "/")
	} else {
		plain, err := url.PathUnescape(rawPath)
		if err != nil {
			return err
		}
		rawPath = percent(plain, "/")
	}
	var pairs [][2]string
	for pair := range strings.SplitSeq(rawQuery, "&") {
		if name, value, _ := strings.Cut(pair, "="); pair != "" {
			plainName, _ := url.PathUnescape(name)
			plainValue, _ := url.PathUnescape(value)
			pairs = append(pairs, [2]string{percent(plainName, ""), percent(plainValue, "")})
		}
	}
	sort.Slice(pairs, func(i, j int) bool {
		return pairs[i][0] < pairs[j][0] || pairs[i][0] == pairs[j][0] && pairs[i][1] < pairs[j][1]
	})
	query := ""
	for i, pair := range pairs {
		if i > 0 {
			query += "&"
		}
		query += pair[0] + "=" + pair[1]
	}
	headers := ""
	for name := range strings.SplitSeq(signed, ";") {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		for strings.Contains(value, "  ") {
			value = strings.ReplaceAll(value, "  ", " ")
		}
		headers += name + ":" + strings.TrimSpace(value) + "\n"
	}
	for _, must := range []string{"host", "content-type", "x-own", "x-amz-date"} {
		if !strings.Contains(";"+signed+";", ";"+must+";") {
			return fmt.Errorf("%s is not signed", must)
		}
	}
	if r.Header.Get("X-Amz-Security-Token") != "" && !strings.Contains(signed, "x-amz-security-token") {
		return fmt.Errorf("the session is not signed")
	}
	sum := func(text string) string { h := sha256.Sum256([]byte(text)); return hex.EncodeToString(h[:]) }
	mac := func(key, text string) string {
		h := hmac.New(sha256.New, []byte(key))
		io.WriteString(h, text)
		return string(h.Sum(nil))
	}
	canonical := r.Method + "\n" + rawPath + "\n" + query + "\n" + headers + "\n" + signed + "\n" + sum(string(body))
	toSign := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + sum(canonical)
	key := mac(mac(mac(mac("AWS4"+secret, parts[0]), parts[1]), parts[2]), "aws4_request")
	if want := hex.EncodeToString([]byte(mac(key, toSign))); want != signature {
		return fmt.Errorf("the signature does not fit\n%s", canonical)
	}
	return nil
}

// percent encodes all bytes but letters, digits, -._~ and some more.
func percent(text, more string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~"+more, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
