package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"capcli/cmd/shell"
	"capcli/profile"
	"capcli/profile/web"
	"capcli/testdata/shelltest"
)

// silentServer never begins to answer, or begins and never ends.
type silentServer struct{ begins bool }

func (s silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.begins {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	body, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, `{"status":"success","data":{`)
		<-r.Context().Done()
		w.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{}, Body: body, Request: r}, nil
}

// A server that says nothing, or does not finish, is given up after a time; one
// TERM ends the wait.
func TestSlowServersAreGivenUp(t *testing.T) {
	dir := t.TempDir()
	address := "http://user:s3cr3t@slow/metrics"
	tests := []struct {
		name    string
		args    []string
		after   time.Duration
		stopped int
	}{
		{"dcgm", []string{"profile", "--source", "dcgm", "--where", address, "--out", filepath.Join(dir, "out")}, web.PageWait, shell.ExitTerminated},
		{"prometheus", []string{"profile", "--source", "prometheus", "--where", address, "--from", "1969-12-01", "--to", "1969-12-02", "--out", filepath.Join(dir, "out")}, web.QueryWait, shell.ExitDone}, // what was recorded so far
		{"forecast", []string{"forecast", "--prom", address, "--query", "up", "--from", "1969-12-01", "--to", "1969-12-02"}, web.QueryWait, shell.ExitTerminated},
	}
	for _, tt := range tests {
		for _, server := range []silentServer{{false}, {true}} {
			for _, stops := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					ctx, stop := context.WithCancelCause(t.Context())
					defer stop(nil)
					if stops {
						time.AfterFunc(time.Second, func() { stop(shell.Stopped{By: syscall.SIGTERM}) })
					}
					e, _, stderr := shelltest.NewEnv()
					e.Web = server
					begun := time.Now()
					code := run(ctx, e, tt.args)
					took := time.Since(begun)
					switch {
					case stops && (code != tt.stopped || took != time.Second):
						t.Errorf("%s, begins %v: exit %d %v after the start, said %s", tt.name, server.begins, code, took, stderr)
					case !stops && (code != shell.ExitFailed || took != tt.after || !strings.Contains(stderr.String(), "error: asking http://slow/metrics: no whole answer within ")):
						t.Errorf("%s, begins %v: exit %d after %v, said %s", tt.name, server.begins, code, took, stderr)
					}
				})
			}
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "out")); err == nil && len(entries) > 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// pipeListener hands the server ends of pipes in memory.
type pipeListener struct{ conns chan net.Conn }

func (l pipeListener) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l pipeListener) Close() error { return nil }

func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// A client of /metrics that sends its question drop by drop, never reads the
// answer, or asks no more, is hung up on.
func TestSlowScrapersAreHungUpOn(t *testing.T) {
	ask := "GET /metrics HTTP/1.1\r\nHost: x\r\n"
	tests := []struct {
		name  string
		say   string // then silence
		reads bool
		after time.Duration // until the server hangs up
	}{
		{"nothing", "", true, 5 * time.Second},
		{"half a header", ask, true, 5 * time.Second},
		{"half a body", ask + "Content-Length: 10\r\n\r\nhalf", true, 10 * time.Second},
		{"no second question", ask + "\r\n", true, time.Minute},
		{"never reads", ask + "\r\n", false, 10 * time.Second},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			x := profile.NewExporter("box")
			var tick profile.Tick
			for range 2000 { // more than fits into a buffer
				tick.Samples = append(tick.Samples, profile.Sample{Device: &profile.Device{UUID: "GPU-a"}})
			}
			x.Observe(&tick)
			l := pipeListener{make(chan net.Conn)}
			server := web.MetricsServer(x.Page)
			go server.Serve(l) // it ends with the test
			ours, theirs := net.Pipe()
			l.conns <- theirs
			begun := time.Now()
			if _, err := io.WriteString(ours, tt.say); err != nil {
				t.Fatal(err)
			}
			if !tt.reads {
				time.Sleep(tt.after + time.Second)
			}
			n, err := io.Copy(io.Discard, bufio.NewReader(ours))
			if took := time.Since(begun); errors.Is(err, io.ErrClosedPipe) || tt.reads && took != tt.after {
				t.Errorf("%s: hung up after %v and %d bytes, %v; want %v", tt.name, took, n, err, tt.after)
			}
			if !tt.reads && n > 128<<10 {
				t.Errorf("%s: %d bytes came after the time was over", tt.name, n)
			}
			close(l.conns)
			_ = server.Close()
			synctest.Wait()
		})
	}
}

// exporterFunc answers each question by its number, from 1: the code of HTTP, and an
// error where there is no answer.
type exporterFunc func(n int64) (int, error)

func (f exporterFunc) serve(asked *atomic.Int64) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		code, err := f(asked.Add(1))
		if err != nil {
			return nil, err
		}
		body := strings.NewReader(`DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",Hostname="node-7"} 97` + "\n")
		return &http.Response{StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code), Body: io.NopCloser(body), Request: r}, nil
	})
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An exporter that goes away and comes back does not end the recording; one that
// is not there at the start does.
func TestProfileOfAnExporterThatGoesAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "box")
	args := []string{"profile", "--source", "dcgm", "--where", "http://exporter/metrics", "--every", "100ms", "--for", "2s", "--out", dir, "-o", "json"}
	record := func(t *testing.T, f exporterFunc) (code int, stdout, stderr string, asked int64) {
		var n atomic.Int64
		e, out, errs := shelltest.NewEnv()
		e.Now = time.Now
		e.Getenv = func(name string) string { // the tests keep their memory and cores
			return map[string]string{"GOGC": "100", "GOMAXPROCS": "2"}[name]
		}
		e.Web = f.serve(&n)
		code = run(t.Context(), e, args)
		return code, out.String(), errs.String(), n.Load()
	}
	synctest.Test(t, func(t *testing.T) {
		code, text, errs, asked := record(t, func(n int64) (int, error) {
			if n > 4 && n < 8 {
				return http.StatusBadGateway, nil
			}
			return http.StatusOK, nil
		})
		if code != shell.ExitPartial || !strings.Contains(errs, "ticks were missed") || asked < 10 {
			t.Fatalf("exit %d, asked %d times: %s", code, asked, errs)
		}
		for _, want := range []string{`"kind": "stalled"`, "502 Bad Gateway", `"kind": "gap"`, "7 ticks missed: the source failed", `"gaps_s": 0.7,`, `"kind": "ended"`} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in %s", want, text)
			}
		}
	})
	capcliRun(t, 0, "verify", dir)
	synctest.Test(t, func(t *testing.T) {
		code, _, errs, _ := record(t, func(int64) (int, error) { return 0, syscall.ECONNREFUSED })
		if code != shell.ExitFailed || !strings.Contains(errs, "connection refused") {
			t.Errorf("no exporter: exit %d, said %q", code, errs)
		}
	})
}
