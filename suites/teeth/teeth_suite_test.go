package teeth_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestTeeth(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Every check and every fault can turn red")
}
