/**
 * SHA-256 of the native binaries of uWebSockets.js, by `platform-arch-abi`: of 20.51, then of 20.69 where there are binaries of
 * the two versions. Only examined binaries are listed; any other binary fails the check rather than passing unseen.
 */
export const UWS_SHA256: Readonly<Record<string, readonly string[]>> = {
  'linux-x64-115': ['4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89'],
  'linux-x64-127': [
    'f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
    '34d235864db874fbf3aeafd48b63f6fb80f61fb584a86f1e5f7b0291dbd7a3d4',
  ],
  'linux-x64-137': ['177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0'],
  'linux-x64-147': ['604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795'],
};
