package billing

import (
	"strconv"
	"strings"
)

// largest is the largest Nxlarge that has a factor: so many times the most units
// fit an hour's account.
const largest = 640

// sizeFactor is the normalisation factor of an instance size in quarters, so
// that all are whole: nano is 1 (0.25), small 4 (1), xlarge 32 (8), 2xlarge 64
// (16) and Nxlarge 32 N. A size that is none of these has no factor: false, and 1.
//
// Source: AWS EC2 User Guide, "Reserved Instance instance size flexibility",
// table of normalisation factors.
func sizeFactor(size string) (int64, bool) {
	switch size {
	case "nano":
		return 1, true
	case "micro":
		return 2, true
	case "small":
		return 4, true
	case "medium":
		return 8, true
	case "large":
		return 16, true
	case "xlarge":
		return 32, true
	}
	if n, ok := strings.CutSuffix(size, "xlarge"); ok {
		if k, err := strconv.ParseInt(n, 10, 16); err == nil && k > 0 && k <= largest {
			return 32 * k, true
		}
	}
	return 1, false
}
