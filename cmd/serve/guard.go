package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"capcli"
)

// guard says which requests are answered.
type guard struct {
	token  [sha256.Size]byte // its hash, so that a comparison tells nothing of its length
	cookie string            // what a browser holds in place of the token
	names  []string          // hosts without a port

	mu   sync.Mutex
	port string
	any  bool // it listens at every address: a Host may be any address, but no unknown name
}

func newGuard(token string, hosts []string) *guard {
	session := sha256.Sum256([]byte("capcli session\x00" + token))
	names := []string{"localhost", "127.0.0.1", "::1"}
	for _, h := range hosts {
		names = append(names, strings.ToLower(h))
	}
	return &guard{token: sha256.Sum256([]byte(token)), cookie: hex.EncodeToString(session[:]), names: names}
}

// listenAt adds the address at which the server listens.
func (g *guard) listenAt(a net.Addr) {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.port = port
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		g.any = true
	}
	g.names = append(g.names, host)
}

// isOwn reports whether host, as a Host or in an Origin, names this server.
func (g *guard) isOwn(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.port != "" && port != g.port {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil && g.any {
		return true
	}
	return slices.Contains(g.names, strings.ToLower(name))
}

// cookieName is the name of the cookie. The port is part of it, since browsers send a cookie to all
// ports of a host.
func (g *guard) cookieName() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return "capcli-" + g.port
}

// letIn answers a browser that shows the token in the address: it gives it a cookie and sends it to
// the address without the token. It reports whether it answered.
func (g *guard) letIn(w http.ResponseWriter, r *http.Request) bool {
	given := r.URL.Query().Get("token")
	if given == "" || r.Method != http.MethodGet || r.URL.Path != "/" || !g.isOwn(r.Host) || !g.isToken(given) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookieName(), Value: g.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
	return true
}

func (g *guard) isToken(given string) bool {
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// check returns the code and the error with which a request is refused; nil if it is let in.
func (g *guard) check(r *http.Request) (int, error) {
	if !g.isOwn(r.Host) {
		return http.StatusForbidden, &capcli.RequestError{Field: "Host", Text: "is not this server", Hint: "capcli serve --host NAME allows a further name"}
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		scheme, host, _ := strings.Cut(origin, "://")
		if scheme != "http" && scheme != "https" || !g.isOwn(host) || !strings.EqualFold(host, r.Host) {
			return http.StatusForbidden, &capcli.RequestError{Field: "Origin", Text: "is another site"}
		}
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default:
		return http.StatusForbidden, &capcli.RequestError{Field: "Sec-Fetch-Site", Text: "is another site"}
	}
	if bearer, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); is && g.isToken(bearer) {
		return 0, nil
	}
	if c, err := r.Cookie(g.cookieName()); err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(g.cookie)) == 1 {
		return 0, nil
	}
	return http.StatusUnauthorized, &capcli.RequestError{Field: "token", Text: "is missing or wrong", Hint: "open the address that capcli serve printed, or send Authorization: Bearer TOKEN"}
}
