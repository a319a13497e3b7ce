//! Gives back what a forked guard holds of its host's memory.
//!
//! A fork shares every page with the process that it was forked from, and keeps it when that process lets go of it: a
//! guard for a host of 2 GB would hold 2 GB for as long as a language server runs.

#[cfg(target_arch = "x86_64")]
pub(super) fn give_back() {
    x86_64::give_back();
}

/// Only where it is tested.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn give_back() {}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "unmaps memory; each use says why it is sound")]
mod x86_64 {
    use std::arch::asm;
    use std::os::fd::AsFd;

    use rustix::fs::{Mode, OFlags};

    const PAGE: usize = 4096;
    /// What is kept of the stack, below and above the current frame: more than the guard needs in either direction. Frames
    /// further up belong to functions that are never returned to.
    const STACK: (usize, usize) = (512 * 1024, 128 * 1024);
    /// What is kept around the thread pointer: `errno`, and what the kernel writes to (`rseq`, the robust list).
    const THREAD: (usize, usize) = (256 * 1024, 64 * 1024);

    /// Unmaps the private anonymous memory of this process, but for the stack in use, the thread's own variables, and
    /// what belongs to a loaded object. The caller must never return to the code that called it before the fork.
    pub(super) fn give_back() {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let Ok(maps) = rustix::fs::open(c"/proc/self/maps", flags, Mode::empty()) else {
            return;
        };
        let keep = [
            around(stack_pointer(), STACK),
            around(thread_pointer(), THREAD),
        ];
        let mut reader = Reader::new();
        let mut buffer = [0_u8; 4096];
        while let Ok(count @ 1..) = rustix::io::read(maps.as_fd(), &mut buffer) {
            for byte in buffer.iter().take(count) {
                if let Some((start, end)) = reader.feed(*byte) {
                    unmap_except(start, end, keep);
                }
            }
        }
    }

    fn around(address: usize, (below, above): (usize, usize)) -> (usize, usize) {
        let start = address.saturating_sub(below) & !(PAGE - 1);
        let end = address.saturating_add(above) & !(PAGE - 1);
        (start, end)
    }

    fn stack_pointer() -> usize {
        let pointer: usize;
        // SAFETY: reads a register.
        unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
        pointer
    }

    fn thread_pointer() -> usize {
        let pointer: usize;
        // SAFETY: on x86-64 the first word of the thread control block is its own address, by the TLS ABI.
        unsafe {
            asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly));
        };
        pointer
    }

    fn unmap_except(start: usize, end: usize, mut keep: [(usize, usize); 2]) {
        keep.sort_unstable();
        let mut from = start;
        for (keep_start, keep_end) in keep {
            unmap(from, keep_start.min(end));
            from = from.max(keep_end);
        }
        unmap(from, end);
    }

    fn unmap(start: usize, end: usize) {
        if start < end {
            // SAFETY: the memory is the host's heap and the stacks of its other threads, which do not exist here. The
            // guard allocates nothing, takes no lock, and never returns to the host's code. Its code and the data of
            // loaded objects are mapped from files or adjoin them, and were left out.
            let _ = unsafe { rustix::mm::munmap(start as *mut _, end - start) };
        }
    }

    /// Reads `/proc/self/maps` byte by byte, without an allocation.
    pub(super) struct Reader {
        line: [u8; 128],
        length: usize,
        /// Where the last mapping that belongs to a loaded object ends: what adjoins it is its zeroed data.
        object_end: usize,
    }

    impl Reader {
        pub(super) fn new() -> Self {
            Self {
                line: [0; 128],
                length: 0,
                object_end: 0,
            }
        }

        /// At the end of a line, the range that it tells of if that is to go.
        pub(super) fn feed(&mut self, byte: u8) -> Option<(usize, usize)> {
            if byte != b'\n' {
                // What is asked of a name is how it starts.
                if let Some(place) = self.line.get_mut(self.length) {
                    *place = byte;
                    self.length += 1;
                }
                return None;
            }
            let length = std::mem::take(&mut self.length);
            let mut fields = self.line.get(..length)?.split(|byte| *byte == b' ');
            let mut range = fields.next()?.split(|byte| *byte == b'-');
            let (start, end) = (hexadecimal(range.next()?)?, hexadecimal(range.next()?)?);
            let permissions = fields.next()?;
            let inode = fields.nth(2)?;
            let name = fields.find(|field| !field.is_empty()).unwrap_or_default();

            let anonymous = name.is_empty() || name == b"[heap]" || name.starts_with(b"[anon");
            if inode != b"0" || !anonymous || start == self.object_end {
                if inode != b"0" || start == self.object_end {
                    self.object_end = end;
                }
                return None;
            }
            (permissions.last() == Some(&b'p')).then_some((start, end))
        }
    }

    fn hexadecimal(digits: &[u8]) -> Option<usize> {
        digits.iter().try_fold(0_usize, |number, digit| {
            let digit = char::from(*digit).to_digit(16)?;
            number.checked_mul(16)?.checked_add(digit as usize)
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_goes_and_what_stays() {
            let maps = "\
5000-6000 r--p 00000000 fe:00 123                        /usr/bin/host
6000-7000 r-xp 00001000 fe:00 123                        /usr/bin/host
7000-8000 rw-p 00002000 fe:00 123                        /usr/bin/host
8000-9000 rw-p 00000000 00:00 0 
a000-b000 rw-p 00000000 00:00 0                          [heap]
c000-d000 rw-p 00000000 00:00 0 
d000-e000 ---p 00000000 00:00 0 
e000-f000 rw-s 00000000 00:01 77                         /memfd:shared (deleted)
10000-11000 rw-p 00000000 00:00 0                        [anon: glibc: malloc]
12000-13000 rw-s 00000000 00:00 0 
14000-15000 rw-p 00000000 00:00 0                        [stack]
16000-17000 r--p 00000000 00:00 0                        [vvar]
17000-18000 r-xp 00000000 00:00 0                        [vdso]
nonsense
";
            let mut reader = Reader::new();
            let gone: Vec<_> = maps.bytes().filter_map(|byte| reader.feed(byte)).collect();
            let expected = [
                (0xa000, 0xb000),
                (0xc000, 0xd000),
                (0xd000, 0xe000),
                (0x10000, 0x11000),
            ];
            assert_eq!(gone, expected);
        }

        #[test]
        fn windows_are_cut_to_pages() {
            assert_eq!(around(0x12345, (0x2000, 0x1000)), (0x10000, 0x13000));
        }
    }
}
