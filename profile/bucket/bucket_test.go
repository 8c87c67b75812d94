package bucket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"capcli/profile"
	"capcli/profile/store"
	"capcli/testdata/golden"
)

const noon = profile.Instant(1_795_521_600_000_000) // 2026-11-24T12:00:00Z

const aDay = 24 * time.Hour

var recorded = map[string]int{} // ticks of each day of a folder and host

// record records ticks of eight GPUs of a host, so many on each day from 2026-11-24 on.
func record(t *testing.T, dir, host string, ticks int, days ...int) {
	t.Helper()
	w, _, err := store.Create(dir, store.Options{Host: host, SegmentRows: 4096, Sync: time.Hour, Clock: stillClock{}, Trouble: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	src := profile.NewFake(profile.SourceOptions{Every: time.Second, Processes: 5 * time.Second, Seed: 7})
	var tick profile.Tick
	for _, day := range days {
		key := fmt.Sprint(dir, host, day)
		from := recorded[key]
		recorded[key] += ticks
		for i := from; i < from+ticks; i++ {
			tick.Reset()
			tick.At, tick.Elapsed, tick.Every = noon.Add(time.Duration(day)*aDay+time.Duration(i)*time.Second), time.Duration(i)*time.Second, time.Second
			if err := src.Read(t.Context(), &tick); err != nil {
				t.Fatal(err)
			}
			if err := w.Write(&tick); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// stillClock is a clock that stands.
type stillClock struct{}

func (stillClock) Now() (profile.Instant, time.Duration)           { return noon, 0 }
func (stillClock) After(time.Duration) <-chan time.Time            { return nil }
func (stillClock) Wait(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() }

func compact(t *testing.T, dir string) {
	t.Helper()
	if _, err := store.Compact(t.Context(), nil, dir, store.CompactOptions{}); err != nil {
		t.Fatal(err)
	}
}

// sumTicks gives a digest of what a query reads: ticks, samples and power by host.
func sumTicks(t *testing.T, d store.Disk, root string, q store.Query) map[string][4]float64 {
	t.Helper()
	got, err := trySum(d, root, q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func trySum(d store.Disk, root string, q store.Query) (map[string][4]float64, error) {
	got := map[string][4]float64{}
	for tick, err := range store.OpenDir(d, root).Ticks(q) {
		if err != nil {
			return nil, err
		}
		s := got[tick.Host]
		s[0]++
		s[1] += float64(len(tick.Samples))
		s[2] += float64(len(tick.Processes))
		for i := range tick.Samples {
			if w, ok := tick.Samples[i].Get(profile.Power); ok {
				s[3] += w
			}
		}
		got[tick.Host] = s
	}
	return got, nil
}

var boxes = 0

func upload(t *testing.T, b *Bucket, dir string, o UploadOptions) (Uploaded, error) {
	t.Helper()
	if o.NewBox == nil {
		o.NewBox = func() string { boxes++; return fmt.Sprintf("box-%d", boxes) }
	}
	return b.Upload(t.Context(), nil, dir, o)
}

func mustUpload(t *testing.T, b *Bucket, dir string) Uploaded {
	t.Helper()
	got, err := upload(t, b, dir, UploadOptions{})
	if err != nil || len(got.Bad) > 0 {
		t.Fatal(err, got.Bad)
	}
	return got
}

func TestBucketReadsAsTheFolder(t *testing.T) {
	s := newServer(t)
	s.page = 7 // keys in an answer
	dir := t.TempDir()
	record(t, dir, "gpu 01/a", 40, 0, 1, 2)
	record(t, dir, "gpu-02", 40, 1, 2)
	record(t, dir, "gpu-03", 3000, 1)
	compact(t, dir)
	record(t, dir, "gpu-03", 20, 3) // not compacted
	b := s.open(t, "s3://fleet/a/b")
	got := mustUpload(t, b, dir)
	if got.Days != 7 || got.Files < 20 {
		t.Errorf("%+v", got)
	}
	queries := []store.Query{
		{},
		{Hosts: []string{"gpu-03"}},
		{Hosts: []string{"gpu-03", "gpu 01/a", "none"}, From: noon.Add(aDay + 20*time.Second), To: noon.Add(aDay + 2000*time.Second)},
		{From: noon.Add(2 * aDay), SamplesOnly: true},
		{To: noon.Add(aDay)},
		{From: noon.Add(9 * aDay)},
	}
	for _, q := range queries {
		if far, near := sumTicks(t, b.Disk(), "", q), sumTicks(t, nil, dir, q); !reflect.DeepEqual(far, near) {
			t.Errorf("%+v: %v of the bucket, %v of the folder", q, far, near)
		}
	}
	v, err := store.Verify(b.Disk(), "")
	if err != nil || len(v.Problems) > 0 || v.Rows["samples"] != 8*(40*5+3020) {
		t.Errorf("%v %+v", err, v)
	}
}

// A question about one day of one host asks for little.
func TestBucketReadsLittle(t *testing.T) {
	golden.SkipLong(t)
	s := newServer(t)
	dir := t.TempDir()
	for i := range 8 {
		record(t, dir, fmt.Sprintf("gpu-%02d", i), 5, 0, 1, 2, 3)
	}
	record(t, dir, "big", 6000, 1)
	compact(t, dir)
	mustUpload(t, s.open(t, "s3://fleet"), dir)
	all := int64(0)
	for _, o := range s.objects {
		all += int64(len(o.data))
	}
	for _, c := range []struct {
		q                 store.Query
		requests, percent int64
	}{
		{store.Query{Hosts: []string{"gpu-07"}, From: noon.Add(aDay), To: noon.Add(aDay + time.Hour)}, 12, 2},
		{store.Query{Hosts: []string{"big"}, From: noon.Add(aDay), To: noon.Add(aDay + 10*time.Minute), SamplesOnly: true}, 6, 75},
	} {
		b := s.open(t, "s3://fleet")
		if got := sumTicks(t, b.Disk(), "", c.q); len(got) != 1 {
			t.Errorf("%v", got)
		}
		requests, bytes := b.Traffic()
		t.Logf("%d requests, %d of %d bytes", requests, bytes, all)
		if requests > c.requests || 100*bytes > c.percent*all+100<<10 {
			t.Errorf("%d requests of %d, %d bytes of %d", requests, c.requests, bytes, all)
		}
	}
}

// Two boxes, one bucket: each uploads, compacts, uploads again and removes what it has uploaded.
// Everything of both is in the bucket, once. The way with "sync --delete" lost one of them.
func TestTwoBoxesInOneBucket(t *testing.T) {
	golden.SkipLong(t)
	s := newServer(t)
	b := s.open(t, "s3://fleet")
	dirs := map[string]string{"gpu-01": t.TempDir(), "gpu-02": t.TempDir()}
	want := map[string][4]float64{}
	for round := range 3 {
		for host, dir := range dirs {
			for range 3 {
				record(t, dir, host, 30, 2*round, 2*round+1)
			}
			mustUpload(t, b, dir) // many small files
			compact(t, dir)
			got := mustUpload(t, b, dir)
			if got.Replaced == 0 {
				t.Errorf("nothing was replaced: %+v", got)
			}
		}
		for host, dir := range dirs {
			for h, sum := range sumTicks(t, nil, dir, store.Query{From: noon.Add(time.Duration(2*round) * aDay)}) {
				was := want[h]
				for i := range sum {
					was[i] += sum[i]
				}
				want[h] = was
			}
			pruned, err := store.Prune(t.Context(), nil, dir, store.PruneOptions{
				Keep: store.Keep{Bytes: 1}, Uploading: true, Check: func(_ context.Context, u *store.Upload, day string) error { return b.Check(u, day) },
			})
			if err != nil || len(pruned.Kept) > 0 || len(pruned.Days) == 0 {
				t.Fatalf("%s: %v %+v", host, err, pruned)
			}
		}
	}
	if got := sumTicks(t, s.open(t, "s3://fleet").Disk(), "", store.Query{}); !reflect.DeepEqual(got, want) {
		t.Errorf("the bucket has %v, recorded were %v", got, want)
	}
	for host, dir := range dirs {
		days, _ := filepath.Glob(filepath.Join(dir, "date=*", "host="+host))
		if len(days) != 1 {
			t.Errorf("%s has %v", host, days)
		}
		if got := mustUpload(t, b, dir); got.Files+got.Replaced > 0 { // once more changes nothing
			t.Errorf("%+v", got)
		}
	}
	v, err := store.Verify(s.open(t, "s3://fleet").Disk(), "")
	if err != nil || len(v.Problems)+len(v.Notes) > 0 {
		t.Errorf("%v %+v", err, v)
	}
	for _, call := range s.calls {
		if key, ok := strings.CutPrefix(call, "DELETE "); ok && !strings.Contains(key, "/host=gpu-0") {
			t.Errorf("removed %s", key)
		}
	}
}

func TestUploadRefusesAnotherBoxOfTheName(t *testing.T) {
	s := newServer(t)
	b := s.open(t, "s3://fleet")
	one, other := t.TempDir(), t.TempDir()
	record(t, one, "gpu-01", 10, 0)
	record(t, other, "gpu-01", 20, 0, 1)
	mustUpload(t, b, one)
	before := s.keys()
	_, err := upload(t, b, other, UploadOptions{})
	if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), "another box that is called gpu-01") || !strings.Contains(e.Hint, "--host") {
		t.Errorf("%v", err)
	}
	if !slices.Equal(s.keys(), before) {
		t.Errorf("the bucket changed: %v", s.keys())
	}
	// The other did not upload, and so it removes nothing.
	pruned, err := store.Prune(t.Context(), nil, other, store.PruneOptions{Keep: store.Keep{Bytes: 1}, Check: func(_ context.Context, u *store.Upload, day string) error { return b.Check(u, day) }})
	if err != nil || len(pruned.Days) > 0 {
		t.Errorf("%v %+v", err, pruned)
	}
	// It takes the name over: the day of both is refused, for its files have the same numbers.
	got, err := upload(t, b, other, UploadOptions{TakeOver: true})
	if err != nil || got.Days != 1 || len(got.Bad) != 1 || !strings.Contains(got.Bad[0].Error(), "which this box did not upload") {
		t.Errorf("%v %+v", err, got)
	}
	for _, key := range before {
		if !slices.Contains(s.keys(), key) {
			t.Errorf("%s is gone", key)
		}
	}
	if _, err := upload(t, b, one, UploadOptions{}); err == nil {
		t.Error("the first box goes on")
	}
}

// Whichever request fails, and however: what was there stays, and the next run finishes.
func TestUploadStoppedAtEveryRequest(t *testing.T) {
	s := newServer(t)
	s.objects["fleet/date=2026-11-24/host=other/samples-20261124T120000Z-00000001.parquet"] = kept{data: []byte("x"), tag: "x"}
	base := t.TempDir()
	record(t, base, "gpu-01", 10, 0, 1)
	record(t, base, "gpu-01", 10, 0, 1)
	first := s.open(t, "s3://fleet")
	mustUpload(t, first, base)
	compact(t, base)
	want := sumTicks(t, nil, base, store.Query{})
	start := map[string]kept{}
	for k, o := range s.objects {
		start[k] = o
	}
	step := 1
	if golden.Short() {
		step = 5
	}
	for at := 1; ; at += step {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		s.awaitQuiet()
		s.objects, s.calls = maps.Clone(start), nil
		reached := false
		ctx, stop := context.WithCancel(t.Context())
		s.setFault(func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n < at {
				return false
			}
			reached = true
			stop() // from then on it makes no request
			if at%2 == 0 {
				return true // and nobody answers
			}
			return false // or the answer is not seen
		})
		b, err := Open(ctx, "s3://fleet", first.o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.Upload(ctx, nil, dir, UploadOptions{NewBox: func() string { return "new" }})
		stop()
		s.awaitQuiet()
		if !reached {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		s.setFault(nil)
		check := func(when string) {
			t.Helper()
			got := sumTicks(t, s.open(t, "s3://fleet").Disk(), "", store.Query{Hosts: []string{"gpu-01"}})
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("request %d, %s: %v, want %v", at, when, got, want)
			}
		}
		check("stopped")
		if got, err := upload(t, s.open(t, "s3://fleet"), dir, UploadOptions{}); err != nil || len(got.Bad) > 0 {
			t.Fatalf("request %d: %v %v", at, err, got.Bad)
		}
		check("again")
		files, _ := filepath.Glob(filepath.Join(base, "date=*", "host=*", "*.parquet"))
		if n := len(s.keys()); n != 2+len(files) {
			t.Fatalf("request %d: %d objects: %v", at, n, s.keys())
		}
	}
}

func TestFaultsOfTheServer(t *testing.T) {
	s := newServer(t)
	dir := t.TempDir()
	record(t, dir, "gpu-01", 3000, 0)
	compact(t, dir)
	mustUpload(t, s.open(t, "s3://fleet"), dir)
	want := sumTicks(t, nil, dir, store.Query{})
	q := store.Query{}
	busy := func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n%3 != 0 {
			return false
		}
		s.refuse(w, http.StatusServiceUnavailable, "SlowDown", "reduce your request rate")
		return true
	}
	short := func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n%2 == 0 || r.Method != http.MethodGet || r.Header.Get("Range") == "" {
			return false
		}
		var from, to int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
		s.mu.Lock()
		data := s.objects[strings.TrimPrefix(r.URL.Path, "/")].data
		s.mu.Unlock()
		w.Header().Set("Last-Modified", "Fri, 20 Nov 2026 00:00:00 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(to-from+1))
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, len(data)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(data[from : from+(to-from)/2])
		return true
	}
	for name, fault := range map[string]func(int, http.ResponseWriter, *http.Request) bool{"busy": busy, "short": short} {
		s.setFault(fault)
		b := s.open(t, "s3://fleet")
		if got, err := trySum(b.Disk(), "", q); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, err, got, want)
		}
	}
	s.setFault(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		s.refuse(w, http.StatusForbidden, "AccessDenied", fmt.Sprintf("%s %s %s may not", testKey, testSecret, r.Header.Get("X-Amz-Security-Token")))
		return true
	})
	_, err := trySum(s.open(t, "s3://fleet").Disk(), "", q)
	checkFault(t, err, "access is denied", "s3://fleet")
	s.setFault(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		s.refuse(w, http.StatusBadRequest, "Strange", testKey+" "+testSecret+" "+testToken)
		return true
	})
	_, err = trySum(s.open(t, "s3://fleet").Disk(), "", q)
	checkFault(t, err, "answers 400 Strange")
	s.setFault(func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-r.Context().Done():
		case <-time.After(20 * time.Second):
		}
		return true
	})
	slow := s.open(t, "s3://fleet")
	slow.o.Retries, slow.o.Wait = 1, 100*time.Millisecond
	_, err = slow.head("x")
	checkFault(t, err, "too slow")
	s.setFault(nil)
	s.CloseClientConnections()
}

// checkFault holds that an error says what it should and no secret.
func checkFault(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v does not say %q", err, w)
		}
	}
	for _, secret := range []string{testKey, testSecret, testToken} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%v tells a secret", err)
		}
	}
}

// Bytes that are damaged on the way, or on the server's disk, are never taken for uploaded, nor read.
func TestDamagedBytes(t *testing.T) {
	s := newServer(t)
	dir := t.TempDir()
	record(t, dir, "gpu-01", 3000, 0)
	compact(t, dir)
	b := s.open(t, "s3://fleet")
	s.setFault(func(_ int, w http.ResponseWriter, r *http.Request) bool { // keeps half of what is put
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "samples-") {
			return false
		}
		s.mu.Lock()
		s.objects[strings.TrimPrefix(r.URL.Path, "/")] = kept{data: []byte("half"), tag: "y", meta: http.Header{"X-Amz-Meta-Capcli-Box": r.Header["X-Amz-Meta-Capcli-Box"]}}
		s.mu.Unlock()
		w.Header().Set("ETag", `"y"`)
		return true
	})
	_, err := upload(t, b, dir, UploadOptions{})
	checkFault(t, err, "the server has other bytes")
	prune := func() store.Pruned {
		t.Helper()
		got, err := store.Prune(t.Context(), nil, dir, store.PruneOptions{Keep: store.Keep{Bytes: 1}, Check: func(_ context.Context, u *store.Upload, day string) error { return b.Check(u, day) }})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	record(t, dir, "gpu-01", 1, 9)
	if got := prune(); len(got.Days) > 0 {
		t.Errorf("%+v", got)
	}
	s.setFault(nil)
	mustUpload(t, b, dir)
	var name string
	for _, key := range s.keys() {
		if strings.Contains(key, "2026-11-24") && strings.Contains(key, "samples-") {
			name = key
		}
	}
	o := s.object(name)
	s.setObject(name, kept{slices.Clone(o.data), "other", o.meta})
	if got := prune(); len(got.Days) > 0 || len(got.Kept) != 1 || !strings.Contains(got.Kept[0].Why.Error(), "gone or was changed") {
		t.Errorf("%+v", got)
	}
	bad := slices.Clone(o.data)
	bad[len(bad)/3] ^= 1
	s.setObject(name, kept{bad, "other", o.meta})
	_, err = trySum(s.open(t, "s3://fleet").Disk(), "", store.Query{})
	checkFault(t, err, "not match its", "samples-")
	// The object changes while it is read.
	far := s.open(t, "s3://fleet")
	d := far.Disk()
	if _, err := d.List("date=2026-11-24/host=gpu-01"); err != nil {
		t.Fatal(err)
	}
	s.setObject(name, kept{o.data, "third", o.meta})
	if _, err := trySum(d, "", store.Query{}); !errors.Is(err, store.ErrChanged) {
		t.Errorf("%v", err)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][2]string{
		"s3://fleet": {"fleet", ""}, "s3://fleet/": {"fleet", ""}, "s3://fleet/a/b/": {"fleet", "a/b/"}, "s3://fleet//a": {"fleet", "a/"},
	} {
		bucket, prefix, err := parseName(name)
		if err != nil || bucket != want[0] || prefix != want[1] {
			t.Errorf("%s: %s %s %v", name, bucket, prefix, err)
		}
	}
	for _, name := range []string{"s3://", "s3:///a", "fleet", "s3://key:secret@fleet/a", "s3://a/../b", "s3://a/b//c"} {
		if _, _, err := parseName(name); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, url := range []string{"minio:9000", "http://me:secret@minio", "ftp://minio", "http://minio/path"} {
		_, err := Open(t.Context(), "s3://fleet", Options{Getenv: func(string) string { return url }})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	d := (&Bucket{name: "fleet"}).Disk()
	if _, err := d.Create("x"); !errors.Is(err, errReadOnly) {
		t.Error(err)
	}
	for _, err := range []error{d.Rename("a", "b"), d.Remove("a"), d.MakeDir("a"), d.SyncDir("a")} {
		if !errors.Is(err, errReadOnly) {
			t.Error(err)
		}
	}
}
