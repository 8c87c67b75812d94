package capcli

import (
	"math"
	"strings"
	"testing"
)

func TestParseQuantity(t *testing.T) {
	tests := []struct {
		text         string
		value, milli int64
	}{
		{"0", 0, 0},
		{"8", 8, 8000},
		{"+8", 8, 8000},
		{"500m", 1, 500},
		{"1500m", 2, 1500},
		{"0.5", 1, 500},
		{".5", 1, 500},
		{"1.", 1, 1000},
		{"1.5Ki", 1536, 1536000},
		{"1k", 1000, 1000000},
		{"1M", 1e6, 1e9},
		{"64Gi", 64 << 30, 64 << 30 * 1000},
		{"1Ti", 1 << 40, 1 << 40 * 1000},
		{"2E", 2e18, math.MaxInt64},
		{"7Ei", 7 << 60, math.MaxInt64},
		{"8Ei", math.MaxInt64, math.MaxInt64},
		{"12e6", 12e6, 12e9},
		{"1E3", 1000, 1e6},
		{"1e-3", 1, 1},
		{"100n", 1, 1},
		{"250u", 1, 1},
		{"-1500m", -2, -1500},
		{"9223372036854775807", math.MaxInt64, math.MaxInt64},
		{"99999999999999999999", math.MaxInt64, math.MaxInt64},
	}
	for _, tt := range tests {
		q, err := ParseQuantity(tt.text)
		if err != nil || q.Value() != tt.value || q.Milli() != tt.milli {
			t.Errorf("%s: %d and %d thousandths (%v), want %d and %d", tt.text, q.Value(), q.Milli(), err, tt.value, tt.milli)
		}
	}
	if q, err := ParseQuantity("0.25"); err != nil || q.Float() != 0.25 {
		t.Errorf("0.25 is %v (%v)", q.Float(), err)
	}
	if (Quantity{}).Value() != 0 || (Quantity{}).Float() != 0 {
		t.Error("the zero value is not 0")
	}
}

func TestParseQuantityRefuses(t *testing.T) {
	for _, text := range []string{"", ".", "-", "1.2.3", "--1", "1-2", "8 GPUs", "1K", "1ki", "1kM", "1e", "1e999", "1ei", "x", strings.Repeat("1", 65)} {
		if q, err := ParseQuantity(text); err == nil {
			t.Errorf("%q is read as %d", text, q.Value())
		}
	}
}

func FuzzParseQuantity(f *testing.F) {
	for _, s := range []string{"8", "500m", "1Ti", "12e6", "-1.5Ki", "1E", ".", "1e100"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuantity(text)
		if err != nil {
			return
		}
		// Rounding to thousandths and then to units is rounding to units.
		v, m := q.Value(), q.Milli()
		if m < 0 {
			v, m = -v, -m
		}
		if m > 0 && m < math.MaxInt64-1000 && v != (m+999)/1000 {
			t.Errorf("%q: %d, and %d thousandths", text, v, m)
		}
	})
}
