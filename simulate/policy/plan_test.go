package policy

import (
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// TestPlan holds a plan against an array with one figure for each second.
func TestPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const length, size = 400, 64
		var flat [length]int64
		for i := range flat {
			flat[i] = size
		}
		var p plan
		p.reset(0, size)
		now := 0
		for range rapid.IntRange(1, 200).Draw(rt, "changes") {
			from := rapid.IntRange(now, length-2).Draw(rt, "from")
			to := rapid.IntRange(from+1, length-1).Draw(rt, "to")
			by := rapid.Int64Range(-8, 8).Draw(rt, "by")
			p.add(capcli.Seconds(from), capcli.Seconds(to), by)
			for i := from; i < to; i++ {
				flat[i] += by
			}
			if rapid.IntRange(0, 9).Draw(rt, "forget") == 0 {
				now = rapid.IntRange(now, min(now+20, length-3)).Draw(rt, "now")
				p.forget(capcli.Seconds(now))
			}
		}
		for i := now; i < length; i++ {
			k, j := p.locate(capcli.Seconds(i))
			if got := p.parts[k].steps[j].free + p.parts[k].plus; got != flat[i] {
				rt.Fatalf("at %d %d free, want %d", i, got, flat[i])
			}
		}
		milli := rapid.Int64Range(1, size).Draw(rt, "milli")
		want := rapid.IntRange(1, 40).Draw(rt, "length")
		first, run := -1, 0
		for i := now; i < length && first < 0; i++ {
			if run++; flat[i] < milli {
				run = 0
			}
			if run == want {
				first = i - want + 1
			}
		}
		at, ok := p.earliest(capcli.Seconds(now), capcli.Seconds(want), milli)
		if first >= 0 && (!ok || at != capcli.Seconds(first)) {
			rt.Fatalf("%d for %d s first at %d (%v), want %d", milli, want, at, ok, first)
		}
		by := rapid.IntRange(now, length-1).Draw(rt, "promised")
		g := p.gapsOf(milli)
		reach := by > now && flat[by-1] >= milli
		if got := g.fitsBefore(capcli.Seconds(want), capcli.Seconds(by)); (first >= 0 && first < by || reach) && !got {
			rt.Fatalf("%d for %d s could begin before %d, at %d", milli, want, by, first)
		}
	})
}
