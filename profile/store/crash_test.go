package store

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/testdata/golden"
)

// child writes ticks from number CAPCLI_STORE_CHILD on into the directory of its
// one argument until it is killed, and tells on standard output the number of
// each that was acknowledged. It compacts all the while.
func child() {
	first, err := strconv.Atoi(os.Getenv("CAPCLI_STORE_CHILD"))
	if err != nil {
		panic(err)
	}
	dir := os.Args[1]
	w, _, err := Create(dir, Options{Host: "box", SegmentTime: 20 * time.Second, Trouble: func(err error) { panic(err) }})
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			if _, err := Compact(context.Background(), nil, dir, CompactOptions{}); err != nil {
				panic(err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	b := newBox(5, 2, numbered(first), time.Second)
	var tick profile.Tick
	var told [8]byte
	for i := first; ; i++ {
		b.next(&tick)
		tick.At = numbered(i)
		if err := w.Write(&tick); err != nil {
			panic(err)
		}
		binary.LittleEndian.PutUint64(told[:], uint64(i))
		if _, err := os.Stdout.Write(told[:]); err != nil {
			panic(err)
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// numbered is the instant of a tick by its number.
func numbered(i int) profile.Instant { return noon + profile.Instant(i)*1_000_000 }

// kill lets a child write for so long, counted from its start or from its first tick, and gives how many ticks it acknowledged.
func kill(t *testing.T, dir string, first int, after time.Duration, atOnce bool) (acked int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), fmt.Sprintf("CAPCLI_STORE_CHILD=%d", first))
	said := &tail{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	var told [8]byte
	end := func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) }
	if atOnce { // while it starts and recovers
		end()
	}
	for begun := atOnce; ; {
		if _, err := io.ReadFull(in, told[:]); err != nil {
			break
		}
		if n := int(binary.LittleEndian.Uint64(told[:])); n != first+acked {
			t.Errorf("the child acknowledged tick %d, expected %d", n, first+acked)
		}
		acked++
		if !begun {
			begun = true
			end()
		}
	}
	_ = cmd.Wait() // it was killed
	if s := said.String(); s != "" {
		t.Fatalf("the child said: %s", s)
	}
	return acked
}

type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// Killed at any time: every file opens, nothing that was acknowledged is lost,
// nothing is there twice. CAPCLI_KILLS sets how often; make soak has 1,000.
func TestKilled(t *testing.T) {
	kills := 100
	if golden.Short() {
		kills = 40
	}
	if s := os.Getenv("CAPCLI_KILLS"); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	const each = 20 // kills of one directory
	for run := range (kills + each - 1) / each {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rng := capcli.Seed(run).Stream("kills")
			next, ticks, torn := 0, map[int]bool{}, 0
			for range min(each, kills-run*each) {
				acked := kill(t, dir, next, time.Duration(rng.IntN(60_000))*time.Microsecond, rng.IntN(3) == 0)
				for i := range acked {
					ticks[next+i] = true
				}
				v := check(t, dir)
				if len(v.Notes) > 0 {
					torn++
				}
				next = numbersIn(t, dir, ticks, next+acked)
			}
			w := create(t, dir, Options{})
			shut(t, w)
			numbersIn(t, dir, ticks, next)
			if v := check(t, dir); v.Segments > 0 {
				t.Errorf("%d segments are left", v.Segments)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "date=*", "host=*", ".*part.tmp")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			t.Logf("%d ticks, %d of the kills left something to clear up", len(ticks), torn)
		})
	}
}

// numbersIn reads a directory, holds that it has all of want once, and gives the
// number behind its last tick. It may have one more for each kill: the tick that
// was written and not yet told.
func numbersIn(t *testing.T, dir string, want map[int]bool, next int) int {
	t.Helper()
	got := map[int]int{}
	for tick, err := range OpenDir(nil, dir).Ticks(Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n := int(tick.At-noon) / 1_000_000
		got[n]++
		if len(tick.Samples) != 2 || !tick.LookedAtHost || got[n] > 1 {
			t.Fatalf("tick %d has %d samples and is there %d times", n, len(tick.Samples), got[n])
		}
		next = max(next, n+1)
	}
	for n := range want {
		if got[n] != 1 {
			t.Fatalf("acknowledged tick %d of %d is there %d times", n, len(want), got[n])
		}
	}
	for n := range got {
		want[n] = true
	}
	return next
}
