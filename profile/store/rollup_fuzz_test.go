package store

import (
	"testing"

	"capcli/profile/rhythm"
)

// FuzzRollUpTexts reads any text as one of a roll-up: what is read is written as it was read.
func FuzzRollUpTexts(f *testing.F) {
	for _, s := range []string{"", "0:1 127:3600000000", "1:2:1:40", "5:x", "128:1", "1:1 ", ":"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var bins, again [128]int64
		if parseBins(s, bins[:]) == nil {
			if err := parseBins(binText(bins[:]), again[:]); err != nil || again != bins {
				t.Errorf("%q came back as %q: %v", s, binText(bins[:]), err)
			}
		}
		var steps, more []rhythm.Bin
		if parseSteps(s, &steps) == nil {
			if err := parseSteps(stepText(steps), &more); err != nil || stepText(more) != stepText(steps) {
				t.Errorf("%q came back as %q: %v", s, stepText(steps), err)
			}
		}
		if all, ok := parseTicks(s); ok {
			if back, ok := parseTicks(ticksText(&all)); !ok || back != all {
				t.Errorf("%q came back as %q", s, ticksText(&all))
			}
		}
	})
}
