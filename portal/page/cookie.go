package page

import (
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"sluice"
)

// cookieName returns the name of a cookie. With the prefix __Host-, no other host
// and no page over plain HTTP can set it.
func (v *Visit) cookieName(name string) string {
	if v.isSecure() {
		return "__Host-sluice-" + name
	}
	return "sluice-" + name
}

// isSecure reports whether browsers reach the portal over https.
func (v *Visit) isSecure() bool { return strings.HasPrefix(v.BaseURL, "https://") }

// SetCookie sets a cookie, or removes it if the value is empty. Scripts can't read it, and other
// sites can't send it except by linking here.
func (v *Visit) SetCookie(name, value string, lifetime time.Duration) {
	cookie := &http.Cookie{ //nolint:gosec // plain HTTP has cookies, too
		Name: v.cookieName(name), Value: value, Path: "/", MaxAge: int(lifetime / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: v.isSecure(),
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(v.W, cookie)
}

// Cookie returns the value of a cookie, "" if there is none.
func (v *Visit) Cookie(name string) string {
	cookie, err := v.R.Cookie(v.cookieName(name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Random returns 256 random bits as text.
func Random() string {
	return base64.RawURLEncoding.EncodeToString(sluice.RandomBytes(32))
}
