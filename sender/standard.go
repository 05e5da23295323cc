package sender

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// standardKey decodes a secret with or without its prefix.
func standardKey(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return nil, secretError("The signing secret must be base64, with or without whsec_ before it, as the sender " +
			"shows it.")
	}
	return key, nil
}

// SignStandard sets the headers by which receivers of Standard Webhooks know a
// call: its id, its time and its signature. A secret that begins with whsec_ is
// base64; any other is the key as it is.
func SignStandard(header http.Header, secret, id string, body []byte, now time.Time) error {
	key := []byte(secret)
	if strings.HasPrefix(secret, "whsec_") {
		var err error
		if key, err = standardKey(secret); err != nil {
			return err
		}
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	sum := macOf(sha256.New, string(key), id+"."+timestamp+".", string(body))
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", timestamp)
	header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(sum))
	return nil
}
