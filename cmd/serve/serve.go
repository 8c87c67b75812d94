// Package serve answers requests about runs over HTTP: the page of a run with its what-if section, and
// an API whose requests and results are the library's documents. It opens no file: what it may read
// was read at its start.
//
// It guards itself. A request needs the token and a Host that is the server's own (against DNS
// rebinding), and none from another origin is answered (against forged requests; there is no CORS).
// Bodies, jobs, runs, the time of a request, requests at work and in the queue, and connections have
// limits; slow clients are hung up on.
package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"capcli"
	"capcli/scenarios/live"
)

// Options are what a server answers for, and its limits. A limit of 0 is its default.
type Options struct {
	Runs    []Run
	Version string
	Token   string   // what requests must know; at least 16 characters
	Hosts   []string // names of the server that a Host may have beside its address and localhost

	Body        int64         // most bytes of a request; 1 MiB
	Time        time.Duration // longest that a request may wait and work; 1 minute
	Working     int           // requests at work at once; 2
	Waiting     int           // requests in the queue; 32
	Connections int           // 256
	Grace       time.Duration // for the requests at work when the server stops; 5 s
	Header      time.Duration // longest that the head of a request may take; 5 s
	Read        time.Duration // longest that a whole request may take to come; 15 s

	Note func(text string) // receives faults of the server; it may be nil
}

// Run is one scenario with its jobs that the server answers for.
type Run struct {
	Name   string
	Engine *live.Engine
	Page   []byte // HTML
}

// Server answers requests. New makes one.
type Server struct {
	o     Options
	guard *guard
	queue *queue
	count *counts
	mux   *http.ServeMux
	spec  []byte // the document of OpenAPI
}

// leastToken is the length of the shortest token.
const leastToken = 16

// NewServer returns a server. It fails with *capcli.RequestError for a short token, no run, or two
// runs of one name.
func NewServer(o Options) (*Server, error) {
	if len(o.Token) < leastToken {
		return nil, &capcli.RequestError{Field: "token-file", Text: fmt.Sprintf("wants a token of at least %d characters, found %d", leastToken, len(o.Token)), Hint: "openssl rand -hex 32 > token; chmod 600 token"}
	}
	if len(o.Runs) == 0 {
		return nil, &capcli.RequestError{Text: "there is no run to serve", Hint: "capcli serve runs/plan"}
	}
	names := map[string]bool{}
	for _, r := range o.Runs {
		if names[r.Name] {
			return nil, &capcli.RequestError{Text: "two runs are called " + r.Name, Hint: "give folders of different names"}
		}
		names[r.Name] = true
	}
	o.setDefaults()
	s := &Server{o: o, queue: newQueue(o.Working, o.Waiting), count: newCounts()}
	s.guard = newGuard(o.Token, o.Hosts)
	var err error
	if s.spec, err = s.openAPI(); err != nil {
		return nil, err
	}
	s.mux = http.NewServeMux()
	for _, p := range operations {
		s.mux.Handle(p.method+" "+p.path, s.operation(p))
	}
	s.mux.HandleFunc("GET /{$}", s.serveIndex)
	s.mux.HandleFunc("GET /run/{number}", s.servePage)
	s.mux.HandleFunc("GET /metrics", s.serveMetrics)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, http.StatusNotFound, &capcli.RequestError{Text: "there is no such page or operation", Hint: "GET /v1/openapi.json lists them"})
	})
	return s, nil
}

func (o *Options) setDefaults() {
	if o.Body <= 0 {
		o.Body = 1 << 20
	}
	if o.Time <= 0 {
		o.Time = time.Minute
	}
	if o.Working <= 0 {
		o.Working = 2
	}
	if o.Waiting <= 0 {
		o.Waiting = 32
	}
	if o.Connections <= 0 {
		o.Connections = 256
	}
	if o.Grace <= 0 {
		o.Grace = 5 * time.Second
	}
	if o.Header <= 0 {
		o.Header = 5 * time.Second
	}
	if o.Read <= 0 {
		o.Read = 15 * time.Second
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
}

// Serve answers on l until ctx ends: then it takes no more connections, lets the requests at work
// finish for the time of grace, and cancels the others. It closes l.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.guard.listenAt(l.Addr())
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: s.o.Header, ReadTimeout: s.o.Read, WriteTimeout: s.o.Time + 30*time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return work },
		ErrorLog:    log.New(io.Discard, "", 0), // it would name what clients sent
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(netutil.LimitListener(l, s.o.Connections)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), s.o.Grace)
	defer stop()
	if err := server.Shutdown(grace); err != nil {
		cancel()
		_ = server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP answers one request, if the guard lets it in.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for _, x := range [][2]string{
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Frame-Options", "DENY"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
	} {
		h.Set(x[0], x[1])
	}
	defer func() {
		if v := recover(); v != nil {
			s.o.Note(fmt.Sprintf("internal error: %v", v))
			s.fail(w, http.StatusInternalServerError, errors.New("internal error; this is a bug in capcli"))
		}
	}()
	if s.guard.letIn(w, r) {
		return // a browser that showed the token goes on with a cookie
	}
	if code, err := s.guard.check(r); err != nil {
		if code == http.StatusUnauthorized {
			h.Set("WWW-Authenticate", `Bearer realm="capcli"`)
		}
		s.fail(w, code, err)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// fail answers with the document of an error.
func (s *Server) fail(w http.ResponseWriter, code int, err error) {
	s.count.add("", code)
	s.write(w, code, live.FailureOf(err))
}

// write answers with a document.
func (s *Server) write(w http.ResponseWriter, code int, document any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(true)
	if err := enc.Encode(document); err != nil {
		s.o.Note("write an answer: " + err.Error())
		code = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"schema":"capcli/error/v1","error":{"text":"the answer could not be written","exit":1}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // a client that has gone away is no fault
}

// run returns the run called name; with one run, "" is it. It fails with *capcli.UnknownError.
func (s *Server) run(name string) (*Run, error) {
	if name == "" && len(s.o.Runs) == 1 {
		return &s.o.Runs[0], nil
	}
	names := make([]string, len(s.o.Runs))
	for i := range s.o.Runs {
		if names[i] = s.o.Runs[i].Name; names[i] == name {
			return &s.o.Runs[i], nil
		}
	}
	return nil, &capcli.RequestError{Field: "run", Text: fmt.Sprintf("is %s, have %s", capcli.Quoted(name), strings.Join(capcli.Abridge(names, 20), ", "))}
}

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

// queue lets so many requests work at once, and so many more wait for their turn.
type queue struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64
}

// errBusy says that the queue is full.
var errBusy = errors.New("the server has as many requests as it takes")

func newQueue(working, waiting int) *queue {
	return &queue{slots: make(chan struct{}, working), most: int64(waiting)}
}

// enter waits for a turn. The function that it returns ends the turn. It fails with errBusy at once if
// the queue is full, and with the cause of ctx.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-q.slots }
	select {
	case q.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		return nil, errBusy
	}
	defer q.waiting.Add(-1)
	select {
	case q.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// counts counts the answers by operation and code.
type counts struct {
	mu  sync.Mutex
	all map[answered]int64
}

type answered struct {
	operation string
	code      int
}

func newCounts() *counts { return &counts{all: map[answered]int64{}} }

func (c *counts) add(operation string, code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[answered{operation, code}]++
}

// openMetrics returns the counts as OpenMetrics text.
func (s *Server) openMetrics() string {
	var b strings.Builder
	b.WriteString("# TYPE capcli_serve_requests counter\n# HELP capcli_serve_requests Requests answered, by operation and HTTP status.\n")
	s.count.mu.Lock()
	keys := make([]answered, 0, len(s.count.all))
	for k := range s.count.all {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y answered) int {
		if d := strings.Compare(x.operation, y.operation); d != 0 {
			return d
		}
		return x.code - y.code
	})
	for _, k := range keys {
		fmt.Fprintf(&b, "capcli_serve_requests_total{operation=%q,code=\"%d\"} %d\n", k.operation, k.code, s.count.all[k])
	}
	s.count.mu.Unlock()
	for _, g := range []struct {
		name, help string
		value      int64
	}{
		{"capcli_serve_working", "Requests at work.", int64(len(s.queue.slots))},
		{"capcli_serve_waiting", "Requests in the queue.", s.queue.waiting.Load()},
	} {
		fmt.Fprintf(&b, "# TYPE %s gauge\n# HELP %s %s\n%s %d\n", g.name, g.name, g.help, g.name, g.value)
	}
	b.WriteString("# EOF\n")
	return b.String()
}
