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
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
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
