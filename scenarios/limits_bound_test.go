package scenarios

import (
	"strings"
	"testing"
)

func TestLimitsBoundTheRightSide(t *testing.T) {
	s, err := Parse("s.yaml", []byte(head+"limits: {cost: 1.70M, allocation_rate: 60%, wait_max: '< 2d', stranded_usd: $0}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range s.Limits {
		got = append(got, c.String())
	}
	if want := "cost <= 1.70M, allocation_rate >= 60%, wait_max < 2d, stranded_usd <= $0"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}
