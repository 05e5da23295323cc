package trust

import (
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"
)

// A CertificateSource is where the certificates of callers are: the name of the header in
// which proxies pass them on, or one of these.
type CertificateSource string

// The sources that are no headers.
const (
	NoCertificates CertificateSource = ""
	FromConnection CertificateSource = ":connection" // the server asks for them itself
)

const (
	maxCertificates  = 32 << 10 // bytes of PEM
	longestEscapedBy = 3        // %0A for a line end
)

// certificates returns those of a call, in DER, the client's first; none if there are none.
func (s CertificateSource) certificates(r *http.Request) (shown [][]byte) {
	if s == FromConnection {
		if r.TLS != nil {
			for _, certificate := range r.TLS.PeerCertificates {
				shown = append(shown, certificate.Raw)
			}
		}
		return shown
	}
	values := r.Header[string(s)]
	if len(values) != 1 || values[0] == "" || len(values[0]) > longestEscapedBy*maxCertificates {
		return nil
	}
	if inner, ok := strings.CutPrefix(values[0], ":"); ok { // RFC 9440
		der, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(inner, ":"))
		if err != nil {
			return [][]byte{{}} // there is one, but a wrong one
		}
		return [][]byte{der}
	}
	text, err := url.PathUnescape(values[0])
	if err != nil {
		return [][]byte{{}}
	}
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		shown = append(shown, block.Bytes)
	}
	if shown == nil {
		return [][]byte{{}}
	}
	return shown
}
