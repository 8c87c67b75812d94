package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"capcli/profile"
)

// exporter holds the last tick for those who scrape.
type exporter struct {
	host string
	mu   sync.Mutex
	tick profile.Tick
}

func (x *exporter) see(t *profile.Tick) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tick.At, x.tick.Took = t.At, t.Took
	x.tick.Samples = append(x.tick.Samples[:0], t.Samples...)
	if t.LookedAtProcesses {
		x.tick.Processes = append(x.tick.Processes[:0], t.Processes...)
	}
}

// ServeHTTP answers a scrape in OpenMetrics 1.0. Figures that are not there have
// no line: a scraper must not see 0.
func (x *exporter) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/metrics" {
		http.Error(w, "capcli profile: metrics are at /metrics", http.StatusNotFound)
		return
	}
	var b bytes.Buffer
	x.write(&b)
	w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // a scraper that went away is its own affair
}

func (x *exporter) write(b *bytes.Buffer) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for m := range profile.NumMetrics {
		d := profile.Metrics[m]
		name, kind := "capcli_gpu_"+d.Name, "gauge"
		if d.Counter {
			kind = "counter"
		}
		any := false
		for i := range x.tick.Samples {
			s := &x.tick.Samples[i]
			v, ok := s.Get(m)
			if !ok {
				continue
			}
			if !any {
				fmt.Fprintf(b, "# TYPE %s %s\n# HELP %s %s\n", name, kind, name, expositionEscapes.Replace(d.Doc))
				any = true
			}
			suffix := ""
			if d.Counter {
				suffix = "_total"
			}
			fmt.Fprintf(b, "%s%s{%s} %s\n", name, suffix, x.labels(s.Device), strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	b.WriteString("# TYPE capcli_gpu_held gauge\n# HELP capcli_gpu_held processes that hold the GPU\n")
	for i := range x.tick.Samples {
		d := x.tick.Samples[i].Device
		n := 0
		for k := range x.tick.Processes {
			if x.tick.Processes[k].Device.UUID == d.UUID {
				n++
			}
		}
		fmt.Fprintf(b, "capcli_gpu_held{%s} %d\n", x.labels(d), n)
	}
	fmt.Fprintf(b, "# TYPE capcli_profile_read_seconds gauge\n# UNIT capcli_profile_read_seconds seconds\n# HELP capcli_profile_read_seconds time that the last look at the GPUs took\ncapcli_profile_read_seconds %s\n# EOF\n",
		strconv.FormatFloat(x.tick.Took.Seconds(), 'f', -1, 64))
}

func (x *exporter) labels(d *profile.Device) string {
	text := fmt.Sprintf(`host="%s",gpu="%d",uuid="%s",model="%s"`, expositionEscapes.Replace(x.host), d.Index, expositionEscapes.Replace(d.UUID), expositionEscapes.Replace(d.Model))
	if d.MIG() {
		text += fmt.Sprintf(`,mig_profile="%s",gi="%d"`, expositionEscapes.Replace(d.Profile), d.GI)
	}
	return text
}

// expositionEscapes are those of OpenMetrics, the same in labels and in help.
var expositionEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// server is x with bounds on how slow and how large those who ask may be.
func (x *exporter) server() *http.Server {
	return &http.Server{
		Handler: x, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}

// serve listens where --metrics-listen says. An address without a host is that
// of this box alone.
func (r *recording) serve(ctx context.Context) (stop func(), err error) {
	if r.o.listen == "" {
		return func() {}, nil
	}
	host, port, err := net.SplitHostPort(r.o.listen)
	if err != nil {
		return nil, &usageError{text: fmt.Sprintf("--metrics-listen wants an address such as 127.0.0.1:9835, found %q", r.o.listen)}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", r.o.listen, err)
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
