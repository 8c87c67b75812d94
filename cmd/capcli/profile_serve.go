package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"capcli/profile"
)

// exporter holds the latest tick for scrapers of metrics.
type exporter struct {
	host string
	mu   sync.Mutex
	tick profile.Tick
}

// show stores a tick. It keeps the processes of the last tick that looked at them.
func (x *exporter) show(t *profile.Tick) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tick.Took = t.Took
	x.tick.Samples = append(x.tick.Samples[:0], t.Samples...)
	if t.LookedAtProcesses {
		x.tick.Processes = append(x.tick.Processes[:0], t.Processes...)
	}
}

// ServeHTTP answers a scrape.
func (x *exporter) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/metrics" {
		http.Error(w, "capcli profile: metrics are at /metrics", http.StatusNotFound)
		return
	}
	x.mu.Lock()
	text := x.tick.OpenMetrics(x.host)
	x.mu.Unlock()
	w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
	_, _ = io.WriteString(w, text) // a scraper that has gone away is no error
}

// server returns an HTTP server for x that limits the time and the size of requests.
func (x *exporter) server() *http.Server {
	return &http.Server{
		Handler: x, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}

// listen listens at the address of a flag. An address without a host is bound to 127.0.0.1.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &usageError{text: fmt.Sprintf("--%s wants an address such as 127.0.0.1:9835, found %q", flag, address)}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", address, err)
	}
	return l, nil
}

// serve listens at --metrics-listen. stop closes the server.
func (r *recording) serve(ctx context.Context) (stop func(), err error) {
	if r.o.listen == "" {
		return func() {}, nil
	}
	l, err := listen(ctx, "metrics-listen", r.o.listen)
	if err != nil {
		return nil, err
	}
	r.seen = &exporter{host: r.host}
	server := r.seen.server()
	go func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			r.e.note(fmt.Sprintf("metrics are no longer served: %v", err))
		}
	}()
	r.e.note(fmt.Sprintf("metrics at http://%s/metrics", l.Addr()))
	return func() { _ = server.Close() }, nil
}
