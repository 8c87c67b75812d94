package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"capcli/cmd/shell"
	"capcli/testdata/shelltest"
)

// serving starts capcli serve with args and returns its address and its token. The test ends it with
// the signal TERM, at which it ends with 0.
func serving(t *testing.T, args ...string) (address, token string) {
	t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	e, _, errs := shelltest.NewEnv()
	r, w := io.Pipe()
	e.Stdout = w
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, e, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)) }()
	t.Cleanup(func() {
		stop(shell.Stopped{By: syscall.SIGTERM})
		if code := <-ended; code != shell.ExitDone {
			t.Errorf("serve ends with %d: %s", code, errs)
		}
		if token != "TOKEN" && strings.Contains(errs.String(), token) {
			t.Errorf("the token is in the notes: %s", errs)
		}
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	address, token, found := strings.Cut(strings.TrimSpace(line), "/?token=")
	if !found {
		t.Fatalf("serve says %q", line)
	}
	return address, token
}

// runsOf returns the runs of a document, without what is kept of them over time.
func runsOf(t *testing.T, text []byte) []any {
	t.Helper()
	var d struct {
		Runs []map[string]any `json:"runs"`
	}
	if err := json.Unmarshal(text, &d); err != nil || len(d.Runs) == 0 {
		t.Fatalf("%v: %.300s", err, text)
	}
	var out []any
	for _, r := range d.Runs {
		delete(r, "timeline")
		out = append(out, r)
	}
	return out
}

// The server's figures are those of the command line: of a scenario, and of a folder of runs whose log
// has a zone and is not in order.
func TestServeAnswersAsSimulate(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "jobs.csv")
	text := "job_id,tenant,gpus,submit,start,end,state\n"
	for _, row := range []string{
		"1,a,4,2027-01-02T09:00:00,2027-01-02T09:00:00,2027-01-02T19:00:00,COMPLETED", "2,b,2,2027-01-01T10:00:00,2027-01-01T10:30:00,2027-01-01T11:30:00,COMPLETED",
		"3,a,8,2027-01-02T09:10:00,2027-01-02T09:20:00,2027-01-02T12:00:00,COMPLETED", "4,b,1,2027-01-03T01:00:00,2027-01-03T01:00:00,2027-01-03T02:00:00,COMPLETED",
	} {
		text += row + "\n"
	}
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(dir, "runs")
	capcliRun(t, 0, "-q", "simulate", "--trace", log, "--read", "tz=Europe/Berlin", "--policy", "easy", "--out", runs)
	tests := []struct {
		serve string
		body  string
		args  []string
	}{
		{"default", `{"set":["capacity.base.gpus=56"],"policy":"sjf","runs":2,"seed":9}`, []string{"default", "--set", "capacity.base.gpus=56", "--policy", "sjf", "--runs", "2", "--seed", "9"}},
		{filepath.Join(runs, "trace"), `{"set":["capacity.assumed.gpus=9"]}`, []string{"--trace", log, "--read", "tz=Europe/Berlin", "--policy", "easy", "--set", "capacity.assumed.gpus=9"}},
	}
	for _, tt := range tests {
		address, token := serving(t, tt.serve)
		r, err := http.NewRequest(http.MethodPost, address+"/v1/simulate", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%d %v: %.300s", a.StatusCode, err, got)
		}
		want, _ := capcliRun(t, 0, append([]string{"-q", "simulate", "-o", "json"}, tt.args...)...)
		have, wanted := runsOf(t, got), runsOf(t, []byte(want))
		for i := range wanted {
			for k, v := range wanted[i].(map[string]any) {
				if !reflect.DeepEqual(have[i].(map[string]any)[k], v) {
					t.Errorf("%s: %s of run %d: the server has %v, capcli simulate %v", tt.serve, k, i, have[i].(map[string]any)[k], v)
				}
			}
		}
		http.DefaultClient.CloseIdleConnections()
	}
}
