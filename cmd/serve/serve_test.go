package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"capcli/profile/logs/trace"
	"capcli/scenarios/live"
	"capcli/scenarios/play"
)

const testToken = "0123456789abcdef0123456789abcdef"

// opened opens texts by name, and counts what was opened.
type opened struct {
	mu    sync.Mutex
	texts map[string]string
	names []string
}

func (o *opened) open(name string) (trace.Input, io.Closer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names = append(o.names, name)
	text, ok := o.texts[name]
	if !ok {
		return trace.Input{}, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r := strings.NewReader(text)
	return trace.Input{Name: name, R: r, At: r, Size: r.Size()}, io.NopCloser(nil), nil
}

// newRun returns a run of a question.
func newRun(t testing.TB, files *opened, name string, q play.Question) *Run {
	t.Helper()
	run, err := OpenRun(context.Background(), &play.Maker{Logs: &play.Logs{Open: files.open}}, Source{Name: name, Ask: q}, Limits{Jobs: 100_000, Runs: 20}, "test")
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// started is a server at work.
type started struct {
	*Server
	address string
	stop    func() error
}

// start starts a server that the test stops at its end.
func start(t *testing.T, o Options) *started {
	t.Helper()
	if o.Runs == nil {
		o.Runs = []Run{*newRun(t, &opened{}, "default", play.Question{})}
	}
	o.Token = testToken
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return &started{s, l.Addr().String(), stop}
}

// request returns a request with the token. Fields of head replace those of the request.
func (s *started) request(method, path, body string, head map[string]string) *http.Request {
	r, err := http.NewRequest(method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range head {
		if r.Header.Set(k, v); k == "Host" {
			r.Host = v
		}
		if v == "" {
			r.Header.Del(k)
		}
	}
	return r
}

// exchange sends a request and returns the code, the head and the body of its answer.
func exchange(t *testing.T, r *http.Request) (int, http.Header, string) {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}
	a, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return 0, nil, ""
	}
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Error(err)
	}
	return a.StatusCode, a.Header, string(body)
}

// expect sends a POST and fails the test if its answer has another code.
func (s *started) expect(t *testing.T, code int, path, body string) string {
	t.Helper()
	got, _, text := exchange(t, s.request(http.MethodPost, path, body, nil))
	if got != code {
		t.Errorf("POST %s %.200s: %d, want %d: %.300s", path, body, got, code, text)
	}
	return text
}

// The API answers as the engine does.
func TestSameAnswers(t *testing.T) {
	files := &opened{}
	run := newRun(t, files, "default", play.Question{})
	s := start(t, Options{Runs: []Run{*run}})
	for _, body := range []string{`{}`, `{"run":"default","set":["capacity.base.gpus=64"],"policy":"sjf"}`, `{"runs":3,"seed":7}`} {
		var q live.SimulateRequest
		if err := json.Unmarshal([]byte(body), &q); err != nil {
			t.Fatal(err)
		}
		want, err := run.Engine.Simulate(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(s.expect(t, http.StatusOK, "/v1/simulate", body)); got != string(text) {
			t.Errorf("%s: the API answers\n%.300s\nthe engine\n%.300s", body, got, text)
		}
	}
	s.expect(t, http.StatusUnprocessableEntity, "/v1/plan", `{"runs":1,"vary":["capacity.base.gpus=32,40"],"max":["cost=1k"]}`)
	for path, body := range map[string]string{
		"/v1/whatif":   `{"changes":[{"path":"capacity.base.gpus","value":"48"},{"path":"policy","value":"fifo"}]}`,
		"/v1/panel":    `{"changes":[]}`,
		"/v1/compare":  `{"plans":[{"name":"a"},{"name":"b","set":["capacity.base.gpus=48"]}]}`,
		"/v1/forecast": `{"step":"1d","horizon":"3","model":"snaive","measure":"demand"}`,
		"/v1/plan":     `{"runs":1,"vary":["capacity.base.gpus=32,40"],"max":["cost=1M","wait_p95=10h"]}`,
	} {
		s.expect(t, http.StatusOK, path, body)
	}
	for _, path := range []string{"/", "/run/0", "/v1/runs", "/v1/openapi.json", "/metrics"} {
		if code, _, text := exchange(t, s.request(http.MethodGet, path, "", nil)); code != http.StatusOK || text == "" {
			t.Errorf("GET %s: %d", path, code)
		}
	}
}

// Requests that must not be answered, and the codes with which they are refused.
func TestGuard(t *testing.T) {
	s := start(t, Options{Body: 1000})
	_, port, _ := net.SplitHostPort(s.address)
	post := http.MethodPost
	tests := []struct {
		name, method, path, body string
		head                     map[string]string
		want                     int
	}{
		{"allowed", post, "/v1/simulate", "{}", nil, 200},
		{"own origin", post, "/v1/simulate", "{}", map[string]string{"Origin": "http://" + s.address, "Sec-Fetch-Site": "same-origin"}, 200},
		{"localhost", post, "/v1/simulate", "{}", map[string]string{"Host": "localhost:" + port}, 200},
		{"no token", post, "/v1/simulate", "{}", map[string]string{"Authorization": ""}, 401},
		{"wrong token", post, "/v1/simulate", "{}", map[string]string{"Authorization": "Bearer " + testToken[1:]}, 401},
		{"longer token", post, "/v1/simulate", "{}", map[string]string{"Authorization": "Bearer " + testToken + "0"}, 401},
		{"another scheme", post, "/v1/simulate", "{}", map[string]string{"Authorization": "Basic " + testToken}, 401},
		{"wrong cookie", post, "/v1/simulate", "{}", map[string]string{"Authorization": "", "Cookie": "capcli-" + port + "=" + testToken}, 401},
		{"token in the address of the API", http.MethodGet, "/v1/runs?token=" + testToken, "", map[string]string{"Authorization": ""}, 401},
		{"wrong token in the address", http.MethodGet, "/?token=nonsense", "", map[string]string{"Authorization": ""}, 401},
		{"rebound name", post, "/v1/simulate", "{}", map[string]string{"Host": "evil.example:" + port}, 403},
		{"rebound name without a port", post, "/v1/simulate", "{}", map[string]string{"Host": "evil.example"}, 403},
		{"another port", post, "/v1/simulate", "{}", map[string]string{"Host": "127.0.0.1:1"}, 403},
		{"rebound name with the token", http.MethodGet, "/?token=" + testToken, "", map[string]string{"Host": "evil.example:" + port}, 403},
		{"another origin", post, "/v1/simulate", "{}", map[string]string{"Origin": "http://evil.example"}, 403},
		{"origin null", post, "/v1/simulate", "{}", map[string]string{"Origin": "null"}, 403},
		{"origin of another own name", post, "/v1/simulate", "{}", map[string]string{"Origin": "http://localhost:" + port}, 403},
		{"another site", http.MethodGet, "/", "", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"same site, another origin", post, "/v1/simulate", "{}", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"a form", post, "/v1/simulate", "{}", map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"plain text", post, "/v1/simulate", "{}", map[string]string{"Content-Type": "text/plain"}, 415},
		{"too large", post, "/v1/simulate", `{"policy":"` + strings.Repeat("x", 2000) + `"}`, nil, 413},
		{"no JSON", post, "/v1/simulate", "policy=easy", nil, 400},
		{"empty", post, "/v1/simulate", "", nil, 400},
		{"more after it", post, "/v1/simulate", "{}{}", nil, 400},
		{"unknown member", post, "/v1/simulate", `{"runz":1}`, nil, 400},
		{"deep", post, "/v1/simulate", strings.Repeat("[", 900), nil, 400},
		{"another run", post, "/v1/simulate", `{"run":"../../etc/passwd"}`, nil, 400},
		{"too many runs", post, "/v1/simulate", `{"runs":21}`, nil, 400},
		{"unknown policy", post, "/v1/simulate", `{"policy":"nonsense"}`, nil, 400},
		{"wrong change", post, "/v1/simulate", `{"set":["capacity.base.gpus=-1"]}`, nil, 400},
		{"no plans", post, "/v1/compare", `{"plans":[]}`, nil, 400},
		{"no such operation", post, "/v1/delete", "{}", nil, 404},
		{"wrong method", http.MethodGet, "/v1/simulate", "", nil, 404},
		{"preflight", http.MethodOptions, "/v1/simulate", "", map[string]string{"Origin": "http://evil.example", "Authorization": ""}, 403},
		{"no such run", http.MethodGet, "/run/7", "", nil, 404},
	}
	for _, tt := range tests {
		code, head, text := exchange(t, s.request(tt.method, tt.path, tt.body, tt.head))
		if code != tt.want {
			t.Errorf("%s: %d, want %d: %.200s", tt.name, code, tt.want, text)
		}
		for k := range head {
			if strings.HasPrefix(k, "Access-Control-") {
				t.Errorf("%s: answers with %s", tt.name, k)
			}
		}
		if code >= 400 {
			var f live.Failure
			if err := json.Unmarshal([]byte(text), &f); err != nil || f.Schema != "capcli/error/v1" || f.Error.Text == "" || f.Error.Exit == 0 {
				t.Errorf("%s: the error is %.200s", tt.name, text)
			}
		}
		if strings.Contains(text, testToken) || strings.Contains(fmt.Sprint(head), testToken) {
			t.Errorf("%s: the answer tells the token", tt.name)
		}
	}
}

// A browser that opens the address with the token gets a cookie, goes on without the token in its
// address, and may ask with the cookie alone.
func TestCookie(t *testing.T) {
	s := start(t, Options{})
	code, head, _ := exchange(t, s.request(http.MethodGet, "/?token="+testToken, "", map[string]string{"Authorization": ""}))
	cookie := head.Get("Set-Cookie")
	if code != http.StatusSeeOther || head.Get("Location") != "/" || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || strings.Contains(cookie, testToken) {
		t.Fatalf("%d to %s with the cookie %s", code, head.Get("Location"), cookie)
	}
	value, _, _ := strings.Cut(cookie, ";")
	code, head, text := exchange(t, s.request(http.MethodGet, "/", "", map[string]string{"Authorization": "", "Cookie": value}))
	if code != http.StatusOK || !strings.Contains(text, "live-form") || head.Get("Content-Security-Policy") != "frame-ancestors 'none'" {
		t.Errorf("%d, %v", code, head)
	}
	if code, _, _ := exchange(t, s.request(http.MethodPost, "/v1/panel", `{"changes":[]}`, map[string]string{"Authorization": "", "Cookie": value, "Origin": "http://" + s.address})); code != http.StatusOK {
		t.Errorf("a question of the page: %d", code)
	}
}

// The API opens no file after the start, whatever a request names.
func TestNoFiles(t *testing.T) {
	files := &opened{texts: map[string]string{"jobs.csv": "job_id,tenant,gpus,submit,start,end\n1,a,1,2027-01-01T00:00:00Z,2027-01-01T00:00:00Z,2027-01-01T01:00:00Z\n", "secret.csv": "sn,cpu_milli,memory_mib,gpu,model\nn1,1,1,8,A100\n"}}
	s := start(t, Options{Runs: []Run{*newRun(t, files, "default", play.Question{Trace: "jobs.csv", Period: "trace"})}})
	files.names = nil
	for _, set := range []string{
		"capacity[0]={name: base, kind: owned, nodes_file: secret.csv, price: 1}", "prices=secret.csv", "jobs.from=/etc/passwd", "jobs={from: secret.csv}",
		"policy={name: easy, predictions: secret.csv}", "energy={intensity: {file: secret.csv}}", "kueue={objects: [secret.yaml]}",
	} {
		body, err := json.Marshal(map[string]any{"set": []string{set}})
		if err != nil {
			t.Fatal(err)
		}
		code, _, text := exchange(t, s.request(http.MethodPost, "/v1/simulate", string(body), nil))
		if code == http.StatusOK && !strings.HasPrefix(set, "jobs") { // the jobs are those in memory, whatever their name
			t.Errorf("%s: %d %.200s", set, code, text)
		}
	}
	s.expect(t, http.StatusBadRequest, "/v1/forecast", `{"prom":"http://127.0.0.1:1"}`)
	if len(files.names) > 0 {
		t.Errorf("opened %q", files.names)
	}
}

// Jobs that the scenario makes are bounded too.
func TestJobsAreBounded(t *testing.T) {
	run, err := OpenRun(t.Context(), &play.Maker{}, Source{Name: "default"}, Limits{Jobs: 10_000, Runs: 2}, "test")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{Runs: []Run{*run}})
	s.expect(t, http.StatusOK, "/v1/simulate", `{}`)
	s.expect(t, http.StatusBadRequest, "/v1/simulate", `{"set":["jobs.generate.classes[0].mean_gpus=500"]}`)
	if _, err := OpenRun(t.Context(), &play.Maker{}, Source{Name: "default"}, Limits{Jobs: 100, Runs: 1}, "test"); err == nil {
		t.Error("a run of more jobs than the limit is opened")
	}
}

// A full queue refuses at once, and says when to come again; a request that takes too long is ended.
func TestBusyAndSlow(t *testing.T) {
	s := start(t, Options{Working: 1, Waiting: 1, Time: 300 * time.Millisecond})
	leave, err := s.queue.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan int)
	go func() {
		code, _, _ := exchange(t, s.request(http.MethodPost, "/v1/simulate", "{}", nil))
		waits <- code
	}()
	for s.queue.waiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	code, head, _ := exchange(t, s.request(http.MethodPost, "/v1/simulate", "{}", nil))
	if code != http.StatusTooManyRequests || head.Get("Retry-After") == "" {
		t.Errorf("a full queue: %d, try again after %q", code, head.Get("Retry-After"))
	}
	if code := <-waits; code != http.StatusGatewayTimeout {
		t.Errorf("one that waits too long: %d", code)
	}
	leave()
	begun := time.Now()
	if code, _, _ := exchange(t, s.request(http.MethodPost, "/v1/simulate", `{"set":["capacity.base.gpus=2"],"policy":"conservative","runs":20}`, nil)); code != http.StatusGatewayTimeout || time.Since(begun) > 5*time.Second {
		t.Errorf("one that works too long: %d after %v", code, time.Since(begun))
	}
}

// A request that works for longer than it may take to come is not ended by that.
func TestWorkOutlastsReading(t *testing.T) {
	s := start(t, Options{Working: 1, Read: 200 * time.Millisecond})
	leave, err := s.queue.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(time.Second, leave)
	s.expect(t, http.StatusOK, "/v1/simulate", "{}")
}

// When the server stops, requests at work may finish; those that do not in time are ended.
func TestStop(t *testing.T) {
	for _, grace := range []time.Duration{10 * time.Second, time.Millisecond} {
		s := start(t, Options{Grace: grace})
		answered := make(chan int)
		go func() {
			r := s.request(http.MethodPost, "/v1/simulate", `{"runs":3}`, nil)
			a, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				answered <- 0
				return
			}
			_ = a.Body.Close()
			answered <- a.StatusCode
		}()
		for len(s.queue.slots) == 0 {
			time.Sleep(time.Millisecond)
		}
		if err := s.stop(); err != nil {
			t.Errorf("grace %v: %v", grace, err)
		}
		if code := <-answered; grace > time.Second && code != http.StatusOK {
			t.Errorf("grace %v: %d", grace, code)
		}
	}
}

// 64 clients at once, three of four hostile: they send nothing, half a head, half a body, a huge body,
// nonsense, too much, hang up early or do not read. The others get the right numbers, and when all have
// gone there is as much at work and in memory as before.
func TestSixtyFourClients(t *testing.T) {
	s := start(t, Options{Working: 2, Waiting: 64, Header: 3 * time.Second, Read: 4 * time.Second, Time: time.Minute})
	want := s.expect(t, http.StatusOK, "/v1/simulate", `{"set":["capacity.base.gpus=48"]}`)
	http.DefaultClient.CloseIdleConnections()
	before, heap := settled(0), heapBytes()
	var top atomic.Int64
	watch := time.NewTicker(20 * time.Millisecond)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-watch.C:
				top.Store(max(top.Load(), heapBytes()))
			case <-done:
				return
			}
		}
	}()
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if i%4 > 0 {
				s.attack(t, i)
				return
			}
			got := s.expect(t, http.StatusOK, "/v1/simulate", `{"set":["capacity.base.gpus=48"]}`)
			if got != want {
				t.Errorf("client %d got other numbers", i)
			}
		})
	}
	all.Wait()
	watch.Stop()
	close(done)
	if after := settled(before); after > before {
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
	if grown := top.Load() - heap; grown > 256<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	} else {
		t.Logf("the heap grew by %d MiB", grown>>20)
	}
	if len(s.queue.slots) != 0 || s.queue.waiting.Load() != 0 {
		t.Error("requests are still at work")
	}
	s.expect(t, http.StatusOK, "/v1/simulate", `{}`)
}

// attack is a client that means no good.
func (s *started) attack(t *testing.T, i int) {
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	head := func(length int) string {
		return fmt.Sprintf("POST /v1/simulate HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", s.address, testToken, length)
	}
	switch i % 12 {
	case 1: // sends nothing
	case 2: // half a head, drop by drop
		for _, b := range []byte("POST /v1/simulate HTTP/1.1\r\nHost: x\r\nX-A") {
			if _, err := c.Write([]byte{b}); err != nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	case 3: // half a body
		_, _ = io.WriteString(c, head(1000)+`{"policy":`)
	case 5: // says that much comes
		_, _ = io.WriteString(c, head(1<<40)+strings.Repeat("[", 1<<20))
	case 6: // sends much
		_, _ = io.WriteString(c, head(64<<20)+`{"policy":"`)
		junk := bytes.Repeat([]byte("x"), 1<<20)
		for range 64 {
			if _, err := c.Write(junk); err != nil {
				break
			}
		}
	case 7: // no HTTP
		_, _ = c.Write([]byte{0x16, 3, 1, 0, 0xff, 0, '\r', '\n', '\r', '\n'})
	case 9: // hangs up while it works
		_, _ = io.WriteString(c, head(2)+"{}")
		time.Sleep(10 * time.Millisecond)
		return
	case 10: // a huge head
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("y", 1<<20)+"\r\n\r\n")
	case 11: // two lengths
		_, _ = io.WriteString(c, "POST /v1/simulate HTTP/1.1\r\nHost: "+s.address+"\r\nContent-Length: 2\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n")
	}
	if _, err := io.Copy(io.Discard, bufio.NewReader(c)); err != nil {
		if e, is := errors.AsType[net.Error](err); is && e.Timeout() {
			t.Errorf("attack %d was not hung up on", i%12)
		}
	}
}

// settled returns the number of goroutines, once it is at most most or two seconds have passed.
func settled(most int) int {
	n := runtime.NumGoroutine()
	for range 100 {
		if n = runtime.NumGoroutine(); most > 0 && n <= most {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return n
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{"{}", `{"run":"a","set":["x=1"],"seed":7,"runs":2}`, `{"changes":[{"path":"a","value":"b"}]}`, `{"plans":[{"name":"a"}]}`, `{"hold":0.5,"max":["a=1"]}`, "[", "{}{}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, to := range []any{&SimulateRequest{}, &WhatIfRequest{}, &PlanRequest{}, &ForecastRequest{}, &CompareRequest{}} {
			if decode(body, to) != nil {
				continue
			}
			text, err := json.Marshal(to)
			if err != nil {
				t.Fatal(err)
			}
			if err := decode(text, to); err != nil {
				t.Errorf("%s was read, and then %s was not: %v", body, text, err)
			}
		}
	})
}
