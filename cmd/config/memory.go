package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// memoryUnits are how a limit is written.
var memoryUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// minMemory is what the server needs to work at all.
const minMemory = 64 << 20

func setMemoryLimit(c *Config, v string) error {
	if v == "" {
		return nil
	}
	for _, unit := range memoryUnits {
		number, ok := strings.CutSuffix(v, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n > math.MaxInt64/unit.bytes || n*unit.bytes < minMemory {
			break
		}
		c.MemoryLimit = n * unit.bytes
		return nil
	}
	return errors.New("must be a size of at least 64MiB, such as 512MiB or 2GiB")
}
